"use strict";
(() => {
  const problems = [];
  addEventListener("error", (event) => problems.push(String(event.message)));
  addEventListener("securitypolicyviolation", (event) => problems.push("CSP: " + event.violatedDirective + " " + event.blockedURI));
  const complain = console.error;
  console.error = (...words) => { problems.push(words.join(" ")); complain.apply(console, words); };

  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const nodes = data.nodes, edges = data.edges;
  const canvas = $("canvas"), pen = canvas.getContext("2d");
  const FOLD_ABOVE = 80, HERE = 300, MANY = 3, WORST = ["error", "warning", "note"], MARKS = { added: "+ ", removed: "- ", changed: "~ " }, CHANGES = { added: "effective", removed: "dangling", changed: "partial" };
  const PATH = new Set(["link", "namespace"]);
  const above = nodes.map(() => []), below = nodes.map(() => []);
  edges.forEach((edge, number) => { below[edge[0]].push(number); above[edge[1]].push(number); });
  nodes.forEach((node, id) => {
    node.id = id;
    node.text = [node.label, node.state, node.place, node.environment].join(" ").toLowerCase();
    node.worst = WORST.find((each) => node.findings.some((number) => data.findings[number].severity === each)) || "";
    node.bare = node.level === "rule" && !above[id].some((number) => nodes[edges[number][0]].role === "policy");
  });
  const focus = new Set(data.focus);
  const reach = nodes.map(() => []);
  nodes.forEach((node) => node.acting.forEach((policy) => reach[policy].push(node.id)));

  // State of the view
  let shown = [], lines = [], selected = -1, lit = null, hover = null, scale = 1, left = 0, top = 0;
  let opened = new Set(), job = 0, worker = null, pending = false, size = { width: 0, height: 0 }, colors = {}, took = 0;
  let boxOf = new Map(), afterLayout = [], started = 0;

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties || {});
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  }

  // What is shown: filters, then bare rules into their routes, then look-alikes into one
  function wanted() {
    const by = { environment: $("environment").value, namespace: $("namespace").value, kind: $("kind").value, policy: $("policy").value };
    const onlyProblems = $("problems").checked;
    const inside = (node) => !by.environment || node.environment === by.environment;
    if (!by.namespace && !by.kind && !by.policy && !onlyProblems) return new Set(nodes.filter(inside).map((node) => node.id));
    const chosen = by.policy.startsWith("kind:") ? (node) => node.kind === by.policy.slice(5) : (node) => node.label === by.policy.slice(5);
    const policies = new Set(by.policy ? nodes.filter((node) => node.role === "policy" && inside(node) && chosen(node)).map((node) => node.id) : []);
    const touched = new Set(policies);
    policies.forEach((id) => { below[id].forEach((number) => touched.add(edges[number][1])); reach[id].forEach((each) => touched.add(each)); });
    const found = new Set();
    for (const node of nodes) {
      const bad = node.worst === "error" || node.worst === "warning" || ["Overridden", "PartiallyEnforced", "Conflicted", "Invalid", "TargetNotFound", "missing"].includes(node.state);
      if (inside(node) && (!by.namespace || node.namespace === by.namespace) && (!by.kind || node.kind === by.kind) && (!by.policy || touched.has(node.id)) && (!onlyProblems || bad)) found.add(node.id);
    }
    const core = [...found];
    for (const id of core) {
      for (const number of above[id]) {
        const first = edges[number][0];
        if (nodes[first].role !== "policy" || !by.policy || policies.has(first)) found.add(first);
      }
      if (nodes[id].role === "policy") below[id].forEach((number) => found.add(edges[number][1]));
    }
    const climb = [...found];
    while (climb.length) for (const number of above[climb.pop()]) {
      const [first, , effect] = edges[number];
      if (PATH.has(effect) && !found.has(first)) { found.add(first); climb.push(first); }
    }
    return found;
  }

  function arrange() {
    const visible = wanted(), stand = new Map();
    for (const id of visible) {
      const route = nodes[id].bare && !$("rules").checked && !focus.has(id) ? above[id].map((number) => edges[number][0]).find((each) => visible.has(each)) : undefined;
      stand.set(id, route === undefined ? id : route);
    }
    const classes = new Map();
    if ($("fold").checked) for (const id of new Set(stand.values())) {
      const node = nodes[id];
      if (["gatewayclass", "gateway"].includes(node.level) || focus.has(id)) continue;
      const key = [node.alike, node.worst, node.change].join("/");
      if (!opened.has(key)) classes.set(key, [...(classes.get(key) || []), id]);
    }
    const members = new Map();
    for (const [key, same] of classes) if (same.length >= MANY) same.forEach((id) => members.set(id, { key, same, first: same[0] }));
    boxOf = new Map();
    const made = new Map();
    pen.font = "12px system-ui, sans-serif";
    for (const [id, there] of stand) {
      const group = members.get(there), first = group ? group.first : there;
      boxOf.set(id, first);
      if (made.has(first)) continue;
      const node = nodes[first];
      const title = group ? group.same.length + " alike" + (node.namespace ? " in " + node.namespace : "") : node.title;
      const kindText = (MARKS[node.change] || "") + node.kind + (node.state ? " · " + node.state : "") + ($("environment").value || data.environments.length < 2 ? "" : " · " + node.environment);
      const width = Math.max(90, Math.min(300, Math.max(pen.measureText(title).width, pen.measureText(kindText).width * 0.86) + 26));
      made.set(first, { id: first, node, group, title, kind: kindText, width, height: 40, x: 0, y: 0 });
    }
    const seen = new Map();
    for (const edge of edges) {
      const start = boxOf.get(edge[0]), end = boxOf.get(edge[1]);
      if (start === undefined || end === undefined || start === end) continue;
      const key = start + ">" + end + edge[2];
      if (!seen.has(key)) seen.set(key, { start, end, effect: edge[2], said: ((MARKS[edge[5]] || "") + edge[3]).trim(), change: edge[5], why: edge[4], points: [] });
    }
    shown = [...made.values()]; lines = [...seen.values()];
    layout();
  }

  function layout() {
    const number = ++job;
    started = performance.now();
    pending = true;
    $("busy").textContent = "Laying out " + shown.length.toLocaleString("en") + " boxes…";
    const rooms = shown.length <= 600;
    const request = {
      number, boxes: shown.map((box) => [box.id, box.width, box.height]),
      lines: lines.map((line) => [line.start, line.end, line.said && rooms ? Math.min(190, line.said.length * 5.6 + 10) : 0, line.effect === "link" ? 2 : 1]),
    };
    if (worker) worker.terminate();
    worker = null;
    if (shown.length <= HERE) return here(request);
    $("busy").hidden = false;
    try {
      const source = $("dagre").textContent + "\n" + $("layout").textContent;
      worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      worker.onmessage = (event) => settle(event.data);
      worker.onerror = () => { worker = null; setTimeout(here, 20, request); };
      worker.postMessage(request);
    } catch (refused) { setTimeout(here, 20, request); } // a browser without workers for local files
  }

  function here(request) {
    if (request.number !== job) return;
    settle(place(request)); // as layout.js has it
  }

  function settle(result) {
    if (result.number !== job) return;
    const boxes = new Map(shown.map((box) => [box.id, box]));
    for (const [id, x, y] of result.boxes) Object.assign(boxes.get(id), { x, y });
    lines.forEach((line, number) => {
      Object.assign(line, result.lines[number], { from: boxes.get(line.start), to: boxes.get(line.end) });
      line.points[0] = [line.from.x + line.from.width / 2, line.from.y]; // out at the right, in at the left
      line.points[line.points.length - 1] = [line.to.x - line.to.width / 2, line.to.y];
      const xs = line.points.map((point) => point[0]), ys = line.points.map((point) => point[1]);
      line.edge = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    });
    size = result;
    took = performance.now() - started;
    pending = false;
    $("busy").hidden = true;
    const policies = shown.filter((box) => box.node.role === "policy").length;
    $("status").textContent = shown.length.toLocaleString("en") + " boxes (" + policies + " policies), " + lines.length.toLocaleString("en") + " lines of " +
      nodes.length.toLocaleString("en") + " and " + edges.length.toLocaleString("en") + "; laid out in " + Math.round(took) + " ms" + (data.leftOut.length ? "; left out: " + data.leftOut.join("; ") : "");
    light();
    if (!afterLayout.length) overview();
    for (const each of afterLayout.splice(0)) each();
    draw();
  }

  // Drawing
  function palette() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["bg", "fg", "faint", "line", "box", "edge", "accent", ...Object.keys(data.effects)]) colors[name] = style.getPropertyValue("--" + name).trim();
    colors.link = colors.namespace = colors.edge;
    const legend = $("legend");
    legend.replaceChildren();
    const used = new Set(edges.map((edge) => edge[2]));
    for (const [effect, words] of Object.entries(data.effects)) if (used.has(effect)) {
      const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("d", "M0 4h30"); line.setAttribute("stroke", colors[effect]); line.setAttribute("stroke-width", "2"); line.setAttribute("stroke-dasharray", data.dashes[effect] || "none");
      picture.append(line);
      legend.append(element("div", {}, picture, words));
    }
    if (nodes.some((node) => node.change) || edges.some((edge) => edge[5])) legend.append(element("div", { textContent: "+ added   - removed   ~ changed" }));
    legend.hidden = !legend.childElementCount;
  }
  const dashOf = (effect) => (data.dashes[effect] || "").split(" ").filter(Boolean).map(Number);

  let asked = false;
  function draw() { if (!asked) { asked = true; requestAnimationFrame(paint); } }

  function paint() {
    asked = false;
    const ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth, high = canvas.clientHeight;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) { canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio); }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colors.bg;
    pen.fillRect(0, 0, wide, high);
    if (pending) return;
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    const x0 = -left / scale, y0 = -top / scale, x1 = x0 + wide / scale, y1 = y0 + high / scale;
    const readable = scale > 0.3;
    const kinds = new Map();
    for (const line of lines) {
      const box = line.edge;
      if (!box || box[2] < x0 || box[0] > x1 || box[3] < y0 || box[1] > y1) continue;
      const on = !lit || (lit.has(line.start) && lit.has(line.end)), key = line.effect + line.change + on;
      if (!kinds.has(key)) kinds.set(key, { on, effect: line.effect, change: line.change, lines: [] });
      kinds.get(key).lines.push(line);
    }
    for (const { on, effect, change, lines: same } of kinds.values()) {
      pen.strokeStyle = pen.fillStyle = colors[CHANGES[change] || effect];
      pen.globalAlpha = on ? 1 : 0.22;
      pen.lineWidth = Math.max(change ? 2.4 : effect === "link" ? 1.2 : 1.6, 0.5 / scale);
      pen.setLineDash(readable ? dashOf(effect) : []);
      pen.beginPath();
      for (const line of same) trace(line);
      pen.stroke();
      pen.setLineDash([]);
      if (!readable) continue;
      pen.beginPath();
      for (const line of same) tip(line);
      pen.fill();
      if (scale < 0.45) continue;
      pen.font = "10px system-ui, sans-serif";
      pen.textAlign = "center";
      for (const line of same) if (line.said && line.label && shown.length <= 600) words(line);
    }
    pen.textAlign = "left";
    for (const box of shown) {
      if (box.x + box.width / 2 < x0 || box.x - box.width / 2 > x1 || box.y + 20 < y0 || box.y - 20 > y1) continue;
      rectangle(box, readable);
    }
    pen.globalAlpha = 1;
  }

  function trace(line) {
    const points = line.points;
    pen.moveTo(points[0][0], points[0][1]);
    if (points.length < 3) return pen.lineTo(points[points.length - 1][0], points[points.length - 1][1]);
    for (let number = 1; number < points.length - 2; number++) {
      const [x, y] = points[number], [nextX, nextY] = points[number + 1];
      pen.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
    }
    const [last, end] = points.slice(-2);
    pen.quadraticCurveTo(last[0], last[1], end[0], end[1]);
  }
  function tip(line) {
    const points = line.points, [x, y] = points[points.length - 1], [px, py] = points[points.length - 2], angle = Math.atan2(y - py, x - px);
    pen.moveTo(x, y);
    pen.lineTo(x - 8 * Math.cos(angle - 0.4), y - 8 * Math.sin(angle - 0.4));
    pen.lineTo(x - 8 * Math.cos(angle + 0.4), y - 8 * Math.sin(angle + 0.4));
    pen.closePath();
  }
  function words(line) {
    const said = line.said, room = pen.measureText(said).width;
    pen.fillStyle = colors.bg;
    pen.fillRect(line.label[0] - room / 2 - 2, line.label[1] - 6, room + 4, 12);
    pen.fillStyle = colors[CHANGES[line.change] || line.effect];
    pen.fillText(said, line.label[0], line.label[1] + 3.5);
  }
  function rectangle(box, readable) {
    const { node, width, height } = box, x = box.x - width / 2, y = box.y - height / 2, policy = node.role === "policy";
    pen.globalAlpha = !lit || lit.has(box.id) ? 1 : 0.3;
    pen.beginPath();
    if (box.group) { pen.roundRect(x + 4, y - 4, width, height, policy ? 14 : 5); pen.fillStyle = colors.bg; pen.fill(); pen.strokeStyle = colors.line; pen.lineWidth = 1; pen.stroke(); pen.beginPath(); }
    pen.roundRect(x, y, width, height, policy ? 14 : 5);
    const effect = node.role === "object" ? "" : data.states[node.state] || "attached";
    pen.fillStyle = policy || node.role === "absent" ? colors.bg : colors.box;
    pen.fill();
    pen.strokeStyle = box.id === selected ? colors.accent : node.change ? colors[CHANGES[node.change]] : effect ? colors[effect] : colors.edge;
    pen.lineWidth = (box.id === selected || focus.has(box.id) ? 3 : node.change ? 2.4 : policy ? 1.6 : 1) / (readable ? 1 : Math.max(scale, 0.2) * 2);
    pen.setLineDash(node.role === "absent" ? [5, 4] : []);
    pen.stroke();
    pen.setLineDash([]);
    if (!readable) return;
    pen.fillStyle = colors.faint;
    pen.font = "10px system-ui, sans-serif";
    pen.fillText(short(box.kind, width - 20), x + 10, box.y - 5);
    pen.fillStyle = colors.fg;
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(short(box.title, width - 18), x + 10, box.y + 11);
    if (node.worst) {
      pen.fillStyle = { error: colors.dangling, warning: colors.partial, note: colors.attached }[node.worst];
      pen.beginPath(); pen.arc(x + width - 9, y + 9, 4.5, 0, 7); pen.fill();
    }
  }
  function short(text, room) {
    if (pen.measureText(text).width <= room) return text;
    let keep = text.length;
    while (keep > 4 && pen.measureText(text.slice(0, keep) + "…").width > room) keep--;
    return text.slice(0, keep) + "…";
  }

  // Moving
  function clamp(value) { return Math.max(0.02, Math.min(3, value)); }
  function fit() {
    const wide = canvas.clientWidth, high = canvas.clientHeight, whole = Math.min(wide / (size.width || 1), high / (size.height || 1), 1.25);
    scale = clamp(whole);
    left = (wide - size.width * scale) / 2; top = Math.max(0, (high - size.height * scale) / 2);
    draw();
  }
  function overview() { // a tall graph begins readable, at its middle
    fit();
    const readable = Math.min(0.62, canvas.clientWidth / (size.width || 1));
    if (scale >= readable) return;
    scale = readable;
    left = (canvas.clientWidth - size.width * scale) / 2; top = (canvas.clientHeight - size.height * scale) / 2;
    draw();
  }
  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const next = clamp(scale * factor);
    left = x - (x - left) * next / scale; top = y - (y - top) * next / scale; scale = next;
    draw();
  }
  function centre(id) {
    const box = shown.find((each) => each.id === boxOf.get(id));
    if (!box) return;
    scale = Math.max(scale, 0.8);
    left = canvas.clientWidth / 2 - box.x * scale; top = canvas.clientHeight / 2 - box.y * scale;
    draw();
  }
  function at(x, y) {
    const px = (x - left) / scale, py = (y - top) / scale, slack = 2 / scale;
    return shown.find((box) => Math.abs(px - box.x) <= box.width / 2 + slack && Math.abs(py - box.y) <= box.height / 2 + slack) || null;
  }

  // Selecting
  function light() {
    if (selected < 0) { lit = null; return; }
    const found = new Set([selected]);
    const walk = (start, next, other) => {
      const pile = [...start];
      while (pile.length) for (const number of next[pile.pop()]) if (PATH.has(edges[number][2]) && !found.has(edges[number][other])) { found.add(edges[number][other]); pile.push(edges[number][other]); }
    };
    const node = nodes[selected];
    if (node.role === "policy") {
      const targets = below[selected].map((number) => edges[number][1]);
      targets.concat(reach[selected], node.by).forEach((each) => found.add(each));
      node.by.forEach((each) => below[each].forEach((number) => found.add(edges[number][1])));
      walk(targets, above, 0);
    } else {
      walk([selected], above, 0);
      const over = [...found];
      walk([selected], below, 1);
      over.concat([...found]).forEach((each) => above[each].forEach((number) => { if (nodes[edges[number][0]].role !== "object") found.add(edges[number][0]); }));
      below[selected].forEach((number) => found.add(edges[number][1]));
    }
    lit = new Set([...found].map((each) => boxOf.get(each)));
  }

  function select(id, move) {
    selected = id;
    if (id >= 0 && !boxOf.has(id)) { // hidden by a filter
      for (const name of ["namespace", "kind", "policy"]) $(name).value = "";
      $("problems").checked = false;
      if ($("environment").value) $("environment").value = nodes[id].environment;
      $("rules").checked = $("rules").checked || nodes[id].bare;
      afterLayout.push(() => select(id, true));
      return arrange();
    }
    const box = id >= 0 && shown.find((each) => each.id === boxOf.get(id));
    if (move && box && box.group) { opened.add(box.group.key); afterLayout.push(() => select(id, true)); return arrange(); }
    light();
    panel();
    if (move) centre(id);
    draw();
  }

  const counted = (number, one, many) => number + " " + (number === 1 ? one : many);
  const link = (id, words, move = true) => element("button", { className: "link", textContent: words || nodes[id].label, onclick: () => select(id, move) });

  function panel() {
    const side = $("panel");
    side.replaceChildren();
    if (selected < 0) return resized();
    const node = nodes[selected], tag = element("span", { className: "tag", textContent: node.state });
    tag.style.color = colors[data.states[node.state]] || colors.faint;
    side.append(element("h2", { textContent: node.label }), element("p", {}, node.state ? tag : "", " "), element("p", { className: "place", textContent: node.place }));
    if (data.environments.length > 1) side.append(element("p", { className: "faint", textContent: "environment " + node.environment }));
    if (node.change) side.append(element("p", {}, element("b", { textContent: { added: "Added by this change", removed: "Removed by this change", changed: "Changed: what acts here, or the object itself, is not what it was" }[node.change] })));
    if (node.change === "removed") return resized();
    if (node.findings.length) {
      side.append(element("h3", { textContent: "Findings (" + node.findings.length + ")" }));
      for (const number of node.findings) {
        const found = data.findings[number];
        side.append(element("div", { className: "row " + found.severity }, element("b", { textContent: found.severity + " " + found.rule }), element("p", { textContent: found.message }),
          ...found.help.map((line) => element("p", { className: "faint", textContent: line })), element("div", { className: "place", textContent: found.place })));
      }
    }
    const named = (node.role === "policy" ? below : above)[selected].filter((number) => node.role === "policy" || nodes[edges[number][0]].role === "policy");
    if (named.length) side.append(element("h3", { textContent: node.role === "policy" ? "Attached to" : "Policies attached here" }));
    for (const number of named) {
      const [start, end, effect, label, why] = edges[number];
      side.append(element("div", { className: "row" }, link(node.role === "policy" ? end : start), element("p", { textContent: [data.effects[effect], label.startsWith("not ") ? "" : label].filter(Boolean).join(": ") }), element("p", { className: "faint", textContent: why })));
    }
    const wrong = above[selected].concat(below[selected]).filter((number) => ["dangling", "unknown", "refused"].includes(edges[number][2]) && nodes[edges[number][0]].role !== "policy");
    if (wrong.length) side.append(element("h3", { textContent: "References that lead nowhere" }));
    for (const number of wrong) side.append(element("div", { className: "row warning" }, element("p", { textContent: nodes[edges[number][0]].label + " → " + nodes[edges[number][1]].label + ": " + edges[number][3] }), element("p", { className: "faint", textContent: edges[number][4] })));
    if (node.by.length) side.append(element("h3", { textContent: "Loses to" }), ...node.by.map((each) => link(each)));
    if (node.role === "policy") {
      const routes = reach[selected].filter((each) => nodes[each].level === "route");
      side.append(element("h3", { textContent: "Takes effect at" }), element("p", { textContent: reach[selected].length ? counted(reach[selected].length, "box", "boxes") + ", " + counted(routes.length, "route", "routes") : "nothing" }));
      for (const each of (routes.length ? routes : reach[selected]).slice(0, 12)) side.append(link(each));
      if (routes.length > 12) side.append(element("p", { className: "faint", textContent: "and " + (routes.length - 12) + " more routes" }));
    }
    effective(side, node);
    resized();
  }

  function effective(side, node) {
    if (!node.results.length) {
      if (node.role === "object") side.append(element("h3", { textContent: "Effective policy" }), element("p", { className: "faint", textContent: "No policy acts here." }));
      return;
    }
    side.append(element("h3", { textContent: "Effective policy" }));
    const kinds = new Map();
    for (const number of node.results) { const each = data.results[number]; kinds.set(each.kind, [...(kinds.get(each.kind) || []), each]); }
    for (const [kind, results] of [...kinds].sort(([one], [other]) => (one < other ? -1 : 1))) {
      results.slice(0, 6).forEach((result) => {
        const where = result.routes.join(", ") + (result.more ? " and " + result.more + " more" : "");
        side.append(element("h4", { textContent: kind + (results.length > 1 && where ? " · towards " + where : "") }));
        for (const row of result.rows) {
          const source = row.box >= 0 ? link(row.box, row.policy) : document.createTextNode(row.policy);
          const lost = row.state === "applies" ? "" : row.state + (row.by ? " by " + row.by : "");
          side.append(element("div", { className: "row " + row.state }, element("b", { textContent: row.field }), " ", element("code", { textContent: row.value }), element("div", {}, "from ", source, row.at ? " at " + row.at : ""),
            lost ? element("div", { textContent: lost }) : "", element("div", { className: "place", textContent: row.place })));
        }
      });
      if (results.length > 6) side.append(element("p", { className: "faint", textContent: "and " + (results.length - 6) + " other results below; open a route to see its own" }));
    }
    if (node.many > node.results.length) side.append(element("p", { className: "faint", textContent: node.many + " different results lie on ways through here; " + node.results.length + " are listed. Open a route to see its own." }));
  }
  let width = 0;
  function resized() { const now = canvas.clientWidth; if (width && now !== width) left += (now - width) / 2; width = now; draw(); }

  // Searching
  let hits = [];
  function search() {
    const asked = $("search").value.toLowerCase().replace(/\//g, " ").split(/\s+/).filter(Boolean), box = $("results");
    box.replaceChildren();
    hits = asked.length ? nodes.filter((node) => asked.every((word) => node.text.replace(/\//g, " ").includes(word))) : [];
    hits.sort((one, other) => one.label.length - other.label.length || (one.label < other.label ? -1 : 1));
    for (const node of hits.slice(0, 30)) box.append(element("button", { role: "option", textContent: node.label + (data.environments.length > 1 ? " (" + node.environment + ")" : "") + (node.state ? " · " + node.state : ""), onclick: () => choose(node.id) }));
    if (hits.length > 30) box.append(element("p", { className: "faint", textContent: " " + (hits.length - 30) + " more" }));
    if (asked.length && !hits.length) box.append(element("p", { className: "faint", textContent: " nothing is called that" }));
    box.hidden = !asked.length;
  }
  function choose(id) { $("results").hidden = true; select(id, true); }
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && hits.length) choose(hits[0].id);
    if (event.key === "ArrowDown" && $("results").firstElementChild) { event.preventDefault(); $("results").firstElementChild.focus(); }
    if (event.key === "Escape") { $("search").value = ""; search(); }
  });
  $("results").addEventListener("keydown", (event) => {
    const other = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (other && document.activeElement[other]) { event.preventDefault(); document.activeElement[other].focus(); }
  });

  // Controls
  function fill(id, all, entries) { $(id).replaceChildren(element("option", { value: "", textContent: all }), ...entries.map(([value, words]) => element("option", { value, textContent: words }))); }
  const distinct = (pick) => [...new Set(nodes.map(pick).filter(Boolean))].sort();
  fill("environment", "all", data.environments.map((name) => [name, name]));
  fill("namespace", "all", distinct((node) => node.namespace).map((name) => [name, name]));
  fill("kind", "all", distinct((node) => node.kind).map((name) => [name, name]));
  const policyNodes = nodes.filter((node) => node.role === "policy");
  fill("policy", "all", [...new Set(policyNodes.map((node) => node.kind))].sort().map((kind) => ["kind:" + kind, "every " + kind]).concat([...new Set(policyNodes.map((node) => node.label))].sort().map((label) => ["name:" + label, label])));
  $("environment").parentElement.hidden = data.environments.length < 2;
  $("environment").parentElement.style.display = data.environments.length < 2 ? "none" : "";
  for (const id of ["environment", "namespace", "kind", "policy", "problems", "rules", "fold"]) $(id).addEventListener("change", () => { opened.clear(); if (id !== "fold" && id !== "rules") { selected = -1; panel(); } arrange(); });
  $("in").onclick = () => zoom(1.3); $("out").onclick = () => zoom(1 / 1.3); $("fit").onclick = fit;
  $("reset").onclick = () => { for (const id of ["namespace", "kind", "policy", "search"]) $(id).value = ""; $("problems").checked = false; opened.clear(); search(); selected = -1; panel(); arrange(); };
  function theme(name) { document.documentElement.dataset.theme = name; palette(); panel(); draw(); }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dark.addEventListener("change", (event) => theme(event.matches ? "dark" : "light"));
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, left, top, moved: false }; try { canvas.setPointerCapture(event.pointerId); } catch (none) { /* a made-up pointer */ } });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      const box = at(event.offsetX, event.offsetY);
      if (box !== hover) { hover = box; canvas.style.cursor = box ? "pointer" : ""; canvas.title = box ? [box.group ? box.title : box.node.label, box.node.state, box.group ? "" : box.node.place].filter(Boolean).join("\n") : ""; }
      return;
    }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    drag.moved = drag.moved || Math.hypot(dx, dy) > 4;
    if (drag.moved) { canvas.classList.add("drag"); left = drag.left + dx; top = drag.top + dy; draw(); }
  });
  canvas.addEventListener("pointerup", (event) => {
    canvas.classList.remove("drag");
    if (drag && !drag.moved) { const area = canvas.getBoundingClientRect(), box = at(event.clientX - area.left, event.clientY - area.top); if (box && box.group) members(box); else select(box ? box.id : -1, false); }
    drag = null;
  });
  function members(box) {
    selected = box.id; light(); panel();
    $("panel").prepend(element("h2", { textContent: box.node.kind + ": " + box.title }), element("button", { textContent: "Unfold", onclick: () => { opened.add(box.group.key); selected = -1; panel(); arrange(); } }),
      ...box.group.same.slice(0, 40).map((id) => link(id)), element("p", { className: "faint", textContent: (box.group.same.length > 40 ? "and " + (box.group.same.length - 40) + " more. " : "") + "One of them:" }));
    draw();
  }
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY); }, { passive: false });
  addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT"].includes(document.activeElement.tagName)) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    if (event.key === "Escape") select(-1, false);
    if (event.key === "+" || event.key === "=") zoom(1.3);
    if (event.key === "-") zoom(1 / 1.3);
    if (event.key === "0") fit();
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step && document.activeElement === canvas) { left += step[0]; top += step[1]; draw(); }
  });
  new ResizeObserver(resized).observe(canvas);

  // #selftest=LABEL: search for a box, click it, filter by its namespace, drag and zoom; what came of it goes into the page.
  function selftest(label) {
    const told = { boxes: shown.length, laidOut: Math.round(took), worker: Boolean(worker) };
    const press = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, bubbles: true }));
    const end = () => { told.problems = problems; document.body.append(element("pre", { id: "selftest", textContent: JSON.stringify(told) })); };
    const run = (steps) => { try { steps(); } catch (error) { problems.push(String(error.stack || error)); end(); } };
    const settled = (then) => { if (pending) afterLayout.push(() => run(then)); else run(then); };
    run(() => {
      $("search").value = label;
      $("search").dispatchEvent(new Event("input"));
      told.found = [...$("results").querySelectorAll("button")].map((each) => each.textContent);
      $("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
      settled(() => {
        told.searched = selected < 0 ? "" : nodes[selected].label;
        select(-1, false);
        const id = nodes.findIndex((node) => node.label === label), box = shown.find((each) => each.id === boxOf.get(id)), area = canvas.getBoundingClientRect();
        const x = area.left + box.x * scale + left, y = area.top + box.y * scale + top, before = [left, scale];
        press("pointerdown", x, y); press("pointerup", x, y);
        told.clicked = selected < 0 ? "" : nodes[selected].label;
        told.panel = $("panel").innerText;
        press("pointerdown", x, y); press("pointermove", x + 50, y); press("pointerup", x + 50, y);
        told.panned = left !== before[0];
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, cancelable: true }));
        told.zoomed = scale > before[1];
        $("theme").click();
        told.theme = document.documentElement.dataset.theme;
        const all = shown.length, began = performance.now();
        paint();
        told.paint = Math.round(performance.now() - began);
        told.drawn = new Set(pen.getImageData(0, 0, canvas.width, canvas.height).data).size > 8;
        $("namespace").value = nodes[id].namespace;
        $("namespace").dispatchEvent(new Event("change"));
        settled(() => {
          told.filtered = shown.map((each) => each.node.label).sort().slice(0, 200);
          told.fewer = shown.length < all;
          $("reset").click();
          settled(() => { told.after = shown.length; end(); });
        });
      });
    });
  }


  $("title").textContent = data.title ? "policylint graph · " + data.title : "policylint graph";
  document.title = $("title").textContent;
  const plain = nodes.filter((node) => !node.bare).length;
  $("fold").checked = plain > FOLD_ABOVE;
  if (data.environments.length > 1) $("environment").value = data.environments[0];
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  palette();
  if (location.hash.startsWith("#selftest=")) afterLayout.push(fit, () => selftest(decodeURIComponent(location.hash.slice(10))));
  else if (focus.size) afterLayout.push(fit, () => select([...focus][0], false));
  if (nodes.length) arrange();
  else Object.assign($("busy"), { textContent: "Nothing to draw.", hidden: false });
})();
