(function () {
  "use strict";
  var svg = document.querySelector(".dc-graph"), about = document.querySelector(".about");
  var all = function (what) { return Array.prototype.slice.call(document.querySelectorAll(what)); };
  var nodes = all(".dc-node"), edges = all(".dc-edge"), body = document.querySelector("#edges tbody");
  var rows = body ? Array.prototype.slice.call(body.rows) : [];
  var named = nodes.map(function (node) { return node.querySelector("title").textContent; });
  var said = edges.map(function (edge) { return edge.querySelector("title").textContent; });
  var pinned = null, slider = document.getElementById("cut"), least = document.getElementById("turn");

  function light(on, off) { on.forEach(function (item) { item.classList.add("on"); }); off.forEach(function (item) { item.classList.remove("on"); }); }
  function clear() { light([], nodes.concat(edges, rows)); svg.classList.remove("lit"); about.textContent = ""; }
  function rowOf(index) { return rows.filter(function (row) { return row.dataset.edge === String(index); }); }

  function showNode(node) {
    clear();
    var own = node.dataset.node, near = {}, causes = [], effects = [], linked = [], lit = [];
    near[own] = true;
    edges.forEach(function (edge, index) {
      var a = edge.dataset.from, b = edge.dataset.to;
      if (edge.classList.contains("cut") || (a !== own && b !== own)) { return; }
      near[a] = near[b] = true;
      lit.push(edge);
      rowOf(index).forEach(function (row) { lit.push(row); });
      var list = edge.classList.contains("dc-unknown") ? linked : a === own ? effects : causes;
      list.push(named[a === own ? b : a]);
    });
    light(lit.concat(nodes.filter(function (other) { return near[other.dataset.node]; })), []);
    svg.classList.add("lit");
    var words = [];
    if (causes.length) { words.push("caused by " + causes.join(", ")); }
    if (effects.length) { words.push("causes " + effects.join(", ")); }
    if (linked.length) { words.push("linked, direction unknown, to " + linked.join(", ")); }
    about.textContent = named[own] + ": " + (words.join("; ") || "no edge");
  }
  function showEdge(edge) {
    clear();
    var index = Number(edge.dataset.edge);
    light([edge, nodes[edge.dataset.from], nodes[edge.dataset.to]].concat(rowOf(index)), []);
    svg.classList.add("lit");
    about.textContent = said[index];
  }
  function settle() { if (pinned) { showNode(pinned); } else { clear(); } }
  function pin(node) {
    nodes.forEach(function (other) { other.classList.toggle("pinned", other === node); other.setAttribute("aria-pressed", String(other === node)); });
    pinned = node;
    settle();
  }
  nodes.forEach(function (node) {
    ["mouseenter", "focus"].forEach(function (when) { node.addEventListener(when, function () { if (!pinned) { showNode(node); } }); });
    ["mouseleave", "blur"].forEach(function (when) { node.addEventListener(when, settle); });
    node.addEventListener("click", function (event) { event.stopPropagation(); pin(pinned === node ? null : node); });
    node.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(pinned === node ? null : node); }
    });
  });
  edges.forEach(function (edge) {
    ["mouseenter", "focus"].forEach(function (when) { edge.addEventListener(when, function () { if (!pinned) { showEdge(edge); } }); });
    ["mouseleave", "blur"].forEach(function (when) { edge.addEventListener(when, settle); });
  });
  rows.forEach(function (row) {
    row.addEventListener("mouseenter", function () { if (!pinned) { showEdge(edges[Number(row.dataset.edge)]); } });
    row.addEventListener("mouseleave", settle);
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") { pin(null); } });
  document.addEventListener("click", function (event) { if (pinned && !event.target.closest(".tools, .graph.near, th")) { pin(null); } });

  function swap(item, text) { var other = item.dataset.other; item.dataset.other = text; return other; }
  function turn() {
    edges.forEach(function (edge, index) {
      var sure = edge.dataset.arrow, on = edge.classList.contains("dc-arrow");
      if (sure === undefined || on === (Number(sure) >= Number(least.value) / 100 - 1e-9)) { return; }
      edge.classList.toggle("dc-arrow", !on);
      edge.classList.toggle("dc-unknown", on);
      said[index] = edge.querySelector("title").textContent = swap(edge, said[index]);
      edge.setAttribute("aria-label", said[index]);
      rowOf(index).forEach(function (row) { row.cells[1].textContent = swap(row.cells[1], row.cells[1].textContent); });
    });
    document.getElementById("turn-value").textContent = document.querySelector(".least").textContent = least.value + "%";
    cut();
  }
  function cut() {
    var bar = Number(slider.value) / 100, shown = 0, arrows = 0, touched = {}, linked = {};
    edges.forEach(function (edge, index) {
      var sure = edge.dataset.sure, off = sure !== undefined && Number(sure) < bar - 1e-9;
      edge.classList.toggle("cut", off);
      rowOf(index).forEach(function (row) { row.hidden = off; });
      [edge.dataset.from, edge.dataset.to].forEach(function (end) { linked[end] = true; if (!off) { touched[end] = true; } });
      shown += off ? 0 : 1;
      arrows += !off && edge.classList.contains("dc-arrow") ? 1 : 0;
    });
    nodes.forEach(function (node) { node.classList.toggle("bare", Boolean(linked[node.dataset.node]) && !touched[node.dataset.node]); });
    document.getElementById("cut-value").textContent = slider.value + "%";
    document.querySelector(".shown").textContent = shown + " of " + edges.length + " edges shown, " + arrows + " with a direction";
    settle();
  }
  var frame = document.querySelector(".graph");
  frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
  document.querySelector(".tools").hidden = false;
  if (slider) {
    slider.addEventListener("input", cut);
    least.addEventListener("input", turn);
    turn();
  }

  var wide = 0, held = null;
  function zoom(step, x, y) {
    var before = svg.getBoundingClientRect(), box = frame.getBoundingClientRect();
    x = x === undefined ? box.left + box.width / 2 : x;
    y = y === undefined ? box.top + Math.min(box.height, before.height) / 2 : y;
    var across = (x - before.left) / before.width, down = (y - before.top) / before.height;
    wide = step ? Math.min(Math.max(before.width * step, 120), 12000) : 0;
    svg.style.width = svg.style.minWidth = svg.style.maxWidth = wide ? wide + "px" : "";
    frame.classList.toggle("near", Boolean(wide));
    var after = svg.getBoundingClientRect();
    frame.scrollLeft += after.left + across * after.width - x;
    frame.scrollTop += after.top + down * after.height - y;
  }
  all("[data-zoom]").forEach(function (button) { button.addEventListener("click", function () { zoom(Number(button.dataset.zoom)); }); });
  frame.addEventListener("wheel", function (event) {
    if (event.ctrlKey || event.metaKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX, event.clientY); }
  }, { passive: false });
  frame.addEventListener("keydown", function (event) {
    var step = { "+": 1.25, "=": 1.25, "-": 0.8, "0": 0 }[event.key];
    if (step !== undefined && !event.ctrlKey && !event.metaKey) { event.preventDefault(); zoom(step); }
  });
  frame.addEventListener("mousedown", function (event) { if (event.button === 0) { held = [event.clientX, event.clientY]; } });
  document.addEventListener("mousemove", function (event) {
    if (!held) { return; }
    frame.scrollLeft += held[0] - event.clientX;
    frame.scrollTop += held[1] - event.clientY;
    held = [event.clientX, event.clientY];
    frame.classList.add("held");
  });
  document.addEventListener("mouseup", function () { held = null; frame.classList.remove("held"); });
  all("#edges th").forEach(function (head) {
    var column = head.cellIndex, button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.appendChild(button);
    button.addEventListener("click", function () {
      var down = head.classList.contains("n") ? head.getAttribute("aria-sort") !== "descending" : head.getAttribute("aria-sort") === "ascending";
      all("#edges th").forEach(function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var key = function (row) {
        var text = row.cells[column].textContent;
        return head.classList.contains("n") ? (text ? parseFloat(text) : -1) : text.toLowerCase();
      };
      rows.slice().sort(function (a, b) {
        var x = key(a), y = key(b), order = x < y ? -1 : x > y ? 1 : 0;
        return (down ? -order : order) || Number(a.dataset.edge) - Number(b.dataset.edge);
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
})();
