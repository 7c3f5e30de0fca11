"use strict";
// Tables sort by a click on a heading, and one filter searches all rows; without this the page reads as it is.
(function () {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const tables = Array.from(document.querySelectorAll(".frame > table"));

  function key(row, column, isNumber) {
    const text = row.cells[column].textContent;
    if (!isNumber || /^\d{4}-/.test(text)) {
      return text;
    }
    const number = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? -1 : number;
  }

  function sort(table, heading) {
    const isNumber = heading.classList.contains("n");
    const [first, other] = isNumber ? ["descending", "ascending"] : ["ascending", "descending"];
    const direction = heading.getAttribute("aria-sort") === first ? other : first;
    for (const th of table.tHead.rows[0].cells) {
      th.removeAttribute("aria-sort");
    }
    heading.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row, heading.cellIndex, isNumber) }));
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
    rows.sort((a, b) => sign * compare(a.key, b.key));
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

  function addFilter(bar) {
    const rows = tables.flatMap((table) => Array.from(table.tBodies[0].rows));
    const more = tables.reduce((sum, table) => sum + Number(table.dataset.more || 0), 0);
    let texts;
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    label.textContent = "Filter all tables";
    label.htmlFor = input.id = "filter";
    input.type = "search";
    input.autocomplete = "off";
    count.htmlFor = input.id;
    input.addEventListener("input", () => {
      texts = texts || rows.map((row) => row.textContent.toLowerCase());
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      for (const details of document.querySelectorAll("main details")) {
        details.open = words.length > 0 && details.querySelector(".frame tbody tr:not([hidden])") !== null;
      }
      const grouped = (number) => number.toLocaleString("en");
      count.textContent = words.length === 0 ? "" : grouped(shown) + " of " + grouped(rows.length) + " rows"
        + (more ? "; " + grouped(more) + " more are only in the CSV files" : "");
    });
    bar.append(label, input, count);
    bar.hidden = false;
  }

  tables.forEach(addSorting);
  addFilter(document.querySelector(".filter"));
})();
