"use strict";
// Tables sort by a click on a heading, one filter searches all rows, and long tables open; without this the page reads as it is.
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

  // The crawlers of the main table, with the operator and the purpose of each.
  const crawlers = new Map();
  for (const row of document.querySelectorAll("#by-crawler tbody tr")) {
    crawlers.set(row.cells[0].textContent, row.dataset);
  }

  // Of a table: what a row has in the column `title`, or what all rows have that is above the table.
  function reader(table, title) {
    const heading = Array.from(table.tHead.rows[0].cells).find((cell) => cell.textContent === title);
    const shared = table.caption.querySelector('[data-of="' + title + '"]');
    return (row) => heading ? row.cells[heading.cellIndex].textContent : shared ? shared.textContent : "";
  }

  // What can be shown and hidden: rows of tables, and rules.
  function entries() {
    const rows = tables.flatMap((table) => {
      const [crawler, origin] = ["Crawler", "Origin"].map((title) => reader(table, title));
      return Array.from(table.tBodies[0].rows, (row) => ({ element: row, crawlers: [crawler(row)], origins: [origin(row)] }));
    });
    const cards = Array.from(document.querySelectorAll(".cards > li[data-crawlers][data-origins]"), (card) =>
      ({ element: card, crawlers: card.dataset.crawlers.split("\n"), origins: card.dataset.origins.split("\n") }));
    return rows.concat(cards).map((entry) => Object.assign(entry, { text: entry.element.textContent.toLowerCase() }));
  }

  // crawler:GPTBot, operator:"Common Crawl" and the like, or a word that is anywhere.
  function terms(text) {
    const parts = text.match(/(?:crawler|operator|purpose|origin):(?:"[^"]*"?|\S+)|"[^"]*"?|\S+/gi) || [];
    return parts.map((part) => {
      const [, key, value] = part.match(/^(?:(crawler|operator|purpose|origin):)?(.*)$/i);
      return { key: (key || "").toLowerCase(), value: value.replaceAll('"', "").toLowerCase() };
    }).filter((term) => term.value);
  }

  function has(entry, { key, value }) {
    const is = (text) => text.toLowerCase() === value;
    switch (key) {
      case "crawler": return entry.crawlers.some(is);
      case "origin": return entry.origins.some(is);
      case "operator":
      case "purpose": return entry.crawlers.some((name) => crawlers.has(name) && is(crawlers.get(name)[key]));
      default: return entry.text.includes(value);
    }
  }

  function suggestions(all) {
    const values = new Set();
    const add = (key, value) => value && values.add(key + ":" + (/\s/.test(value) ? '"' + value + '"' : value));
    crawlers.forEach((of, name) => add("crawler", name));
    ["operator", "purpose"].forEach((key) => crawlers.forEach((of) => add(key, of[key])));
    all.forEach((entry) => entry.origins.forEach((origin) => add("origin", origin)));
    const list = document.createElement("datalist");
    list.id = "filters";
    list.append(...Array.from(values).slice(0, 500).map((value) => Object.assign(document.createElement("option"), { value })));
    return list;
  }

  function addFilter(bar) {
    const more = tables.reduce((sum, table) => sum + Number(table.dataset.more || 0), 0);
    const [label, input, count] = ["label", "input", "output"].map((name) => document.createElement(name));
    let all;
    label.textContent = "Filter";
    label.htmlFor = input.id = "filter";
    input.type = "search";
    input.autocomplete = "off";
    input.placeholder = "crawler:, operator:, purpose:, origin:, words";
    count.htmlFor = input.id;
    input.setAttribute("list", "filters");
    bar.append(label, input, count);
    const prepare = () => {
      if (!all) {
        all = entries();
        bar.append(suggestions(all));
      }
    };
    const apply = () => {
      prepare();
      const wanted = terms(input.value);
      let shown = 0, rows = 0;
      all.forEach((entry) => {
        const { element } = entry;
        element.hidden = !wanted.every((term) => has(entry, term));
        rows += element.cells ? 1 : 0;
        shown += element.cells && !element.hidden ? 1 : 0;
      });
      for (const details of document.querySelectorAll("main details")) {
        details.open = wanted.length > 0 && details.querySelector(".frame tbody tr:not([hidden]), li[data-crawlers]:not([hidden])") !== null;
      }
      const grouped = (number) => number.toLocaleString("en");
      count.textContent = wanted.length === 0 ? "" : grouped(shown) + " of " + grouped(rows) + " rows; charts show all"
        + (more ? "; " + grouped(more) + " more are only in the CSV files" : "");
      folds.forEach((fold) => fold());
    };
    // The filter is in the address, so that a link shows what its sender sees.
    const read = () => {
      if (location.hash.startsWith("#filter=")) {
        try {
          input.value = decodeURIComponent(location.hash.slice(8));
          apply();
        } catch {
          input.value = "";
        }
      }
    };
    input.addEventListener("focus", prepare);
    input.addEventListener("input", () => {
      apply();
      const hash = input.value ? "#filter=" + encodeURIComponent(input.value) : "#";
      if (input.value || location.hash.startsWith("#filter=")) {
        history.replaceState(null, "", hash);
      }
    });
    window.addEventListener("hashchange", read);
    bar.hidden = false;
    read();
  }

  // A long table scrolls in a frame. A button below it says how many rows are visible, and shows all.
  function addFold(frame) {
    const rows = Array.from(frame.querySelectorAll("tbody > tr"));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "all";
    const update = () => {
      const there = rows.filter((row) => !row.hidden);
      const visible = there.filter((row) => row.offsetTop + row.offsetHeight <= frame.clientHeight).length;
      button.textContent = visible + " of " + there.length + " rows, show all";
      button.hidden = !frame.classList.contains("long") || visible === there.length || frame.clientHeight === 0;
    };
    button.addEventListener("click", () => {
      frame.classList.remove("long");
      frame.focus();
      update();
    });
    frame.after(button);
    const details = frame.closest("details");
    if (details) {
      details.addEventListener("toggle", update);
    }
    window.addEventListener("resize", update);
    update();
    return update;
  }

  tables.forEach(addSorting);
  const folds = Array.from(document.querySelectorAll(".frame.long"), addFold);
  addFilter(document.querySelector(".filter"));
})();
