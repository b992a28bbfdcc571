(function () {
  "use strict";
  var svg = document.querySelector(".dc-graph"), about = document.querySelector(".about");
  var all = function (what) { return Array.prototype.slice.call(document.querySelectorAll(what)); };
  var nodes = all(".dc-node"), edges = all(".dc-edge"), body = document.querySelector("#edges tbody");
  var rows = body ? Array.prototype.slice.call(body.rows) : [];
  var named = nodes.map(function (node) { return node.querySelector("title").textContent; });
  var said = edges.map(function (edge) { return edge.querySelector("title").textContent; });
  var pinned = null, slider = document.getElementById("cut");

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
  document.addEventListener("click", function (event) { if (pinned && !event.target.closest(".tools, th")) { pin(null); } });

  function cut() {
    var least = Number(slider.value) / 100, shown = 0, touched = {}, linked = {};
    edges.forEach(function (edge, index) {
      var sure = edge.dataset.sure, off = sure !== undefined && Number(sure) < least - 1e-9;
      edge.classList.toggle("cut", off);
      rowOf(index).forEach(function (row) { row.hidden = off; });
      [edge.dataset.from, edge.dataset.to].forEach(function (end) { linked[end] = true; if (!off) { touched[end] = true; } });
      shown += off ? 0 : 1;
    });
    nodes.forEach(function (node) { node.classList.toggle("bare", Boolean(linked[node.dataset.node]) && !touched[node.dataset.node]); });
    document.getElementById("cut-value").textContent = slider.value + "%";
    document.querySelector(".shown").textContent = shown + " of " + edges.length + " edges shown";
    settle();
  }
  var frame = document.querySelector(".graph");
  frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2;
  if (slider) {
    document.querySelector(".tools").hidden = false;
    slider.addEventListener("input", cut);
    cut();
  }
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
