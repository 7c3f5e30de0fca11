"use strict";
// Tables sort by a click on a heading and filter by what is typed; without this the page reads as it is.
(function () {
  const FILTER_FROM = 8;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function value(row, column) {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
  }

  function compare(left, right) {
    const numbers = [Number(left), Number(right)];
    if (left !== "" && right !== "" && numbers.every(Number.isFinite)) {
      return numbers[0] - numbers[1];
    }
    return collator.compare(left, right);
  }

  function sort(table, heading) {
    const column = heading.cellIndex;
    const first = heading.classList.contains("n") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const direction = heading.getAttribute("aria-sort") === first ? other : first;
    for (const th of table.tHead.rows[0].cells) {
      th.removeAttribute("aria-sort");
    }
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row, at) => ({ row, at, key: value(row, column) }));
    rows.sort((a, b) => sign * compare(a.key, b.key) || a.at - b.at);
    body.append(...rows.map((entry) => entry.row));
  }

  function addSorting(table) {
    for (const heading of table.tHead.rows[0].querySelectorAll("th")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      button.addEventListener("click", () => sort(table, heading));
      heading.replaceChildren(button);
    }
  }

  function addFilter(table) {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length < FILTER_FROM) {
      return;
    }
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const bar = document.createElement("div");
    bar.className = "filter";
    const label = document.createElement("label");
    label.textContent = "Filter";
    const input = document.createElement("input");
    input.type = "search";
    input.id = table.id + "-filter";
    input.setAttribute("aria-controls", table.id);
    input.autocomplete = "off";
    label.htmlFor = input.id;
    const count = document.createElement("output");
    count.setAttribute("aria-live", "polite");
    count.setAttribute("for", input.id);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
    });
    bar.append(label, input, count);
    table.parentElement.before(bar);
  }

  for (const table of document.querySelectorAll(".frame > table")) {
    addSorting(table);
    addFilter(table);
  }
})();
