"use strict";
(() => {
  const problems = [];
  addEventListener("error", (event) => problems.push(String(event.message)));
  addEventListener("securitypolicyviolation", (event) => problems.push("CSP: " + event.violatedDirective + " " + event.blockedURI));
  const complain = console.error;
  console.error = (...words) => { problems.push(words.join(" ")); complain.apply(console, words); };

  const $ = (id) => document.getElementById(id);
  const written = JSON.parse($("data").textContent), linked = () => new URLSearchParams(location.hash.slice(1));
  const data = written.layers[linked().get("layer")] || written;
  const nodes = data.nodes, edges = data.edges;
  const canvas = $("canvas"), pen = canvas.getContext("2d");
  const LEVELS = ["gatewayclass", "namespace", "gateway", "listener", "route", "rule", "service", "port", "workload"], DAGRE = 1500, READABLE = 0.92, MOST_UNFOLDED = 40;
  const FOLD_ABOVE = 80, HERE = 300, MANY = 3, MOST_LOST = 3, WORST = ["error", "warning", "note"], MARKS = { added: "+ ", removed: "- ", changed: "~ " }, CHANGES = { added: "effective", removed: "dangling", changed: "partial" };
  const PATH = new Set(["link", "namespace"]);
  const above = nodes.map(() => []), below = nodes.map(() => []);
  edges.forEach((edge, number) => { below[edge[0]].push(number); above[edge[1]].push(number); });
  nodes.forEach((node, id) => {
    node.id = id;
    node.text = [node.label, node.state, node.place, node.environment].join(" ").toLowerCase();
    node.more = [...node.hostnames, ...node.settings, ...new Set(node.findings.map((number) => data.findings[number].rule))];
    node.worst = WORST.find((each) => node.findings.some((number) => data.findings[number].severity === each)) || "";
    node.bare = node.level === "rule" && !above[id].some((number) => nodes[edges[number][0]].role === "policy");
  });
  nodes.forEach((node) => { node.lost = lostAt(data, node); });
  const focus = new Set(data.focus);
  const reach = nodes.map(() => []);
  nodes.forEach((node) => node.acting.forEach((policy) => reach[policy].push(node.id)));

  // State of the view
  const SELECTS = ["environment", "namespace", "kind", "policy"], CHECKS = ["problems", "rules", "fold", "bands"], usual = {};
  let shown = [], lines = [], selected = -1, lit = null, hover = null, scale = 1, left = 0, top = 0;
  let bands = [], way = null, viewed = "picture", stale = true;
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
      const key = [node.alike, node.worst, node.change, node.exposure, node.login].join("/");
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
      const said = [...(node.level === "route" && node.login ? [[node.login, node.exposure]] : []), ...node.lost.slice(0, MOST_LOST).map((row) => [row.field, "lost", row.by ? "lost to " + row.by : "lost"])];
      const kindText = (MARKS[node.change] || "") + node.kind + (node.state ? " · " + node.state : "") + ($("environment").value || data.environments.length < 2 ? "" : " · " + node.environment);
      const width = Math.max(90, Math.min(300, Math.max(pen.measureText(title).width, pen.measureText(kindText).width * 0.92) + 26));
      const hosts = group ? [] : node.hostnames, hostText = hosts.slice(0, 2).join(", ") + (hosts.length > 2 ? " and " + (hosts.length - 2) + " more" : "");
      const wide = Math.max(width, ...[hostText, ...said.map((row) => row[0] + (row[2] || ""))].map((text) => Math.min(300, pen.measureText(text).width * 0.92 + 26)));
      made.set(first, { id: first, node, group, title, kind: kindText, hosts: hostText, said, width: wide, height: 40 + 14 * (said.length + (hostText ? 1 : 0)), x: 0, y: 0 });
    }
    const seen = new Map();
    for (const edge of edges) {
      const start = boxOf.get(edge[0]), end = boxOf.get(edge[1]);
      if (start === undefined || end === undefined || start === end) continue;
      const key = start + ">" + end + edge[2];
      if (!seen.has(key)) seen.set(key, { start, end, effect: edge[2], said: ((MARKS[edge[5]] || "") + edge[3]).trim(), change: edge[5], why: edge[4], points: [] });
    }
    shown = [...made.values()]; lines = [...seen.values()];
    stale = viewed !== "picture";
    if (!stale) return layout();
    job++;
    pending = false;
    light(); outline(); text();
    for (const step of afterLayout.splice(0)) step();
  }

  const layered = nodes.some((node) => node.level === "route" || node.level === "gateway" || node.role === "policy");
  const bandOf = (box) => (box.node.namespace ? "Namespace " + box.node.namespace : "") + (data.environments.length > 1 && !$("environment").value ? " · " + box.node.environment : "");
  function layout() {
    const number = ++job;
    started = performance.now();
    pending = true;
    $("busy").textContent = "Laying out " + shown.length.toLocaleString("en") + " boxes…";
    const rooms = shown.length <= 600, named = $("bands").checked || shown.length > DAGRE ? [...new Set(shown.map(bandOf))].sort() : [];
    const inBands = layered && (named.length > 0 || shown.length > DAGRE);
    const request = {
      number, bands: inBands ? (named.length ? named : [""]) : null,
      boxes: shown.map((box) => [box.id, box.width, box.height, Math.max(0, named.indexOf(bandOf(box))), box.node.role === "policy" ? -1 : Math.max(0, LEVELS.indexOf(box.node.level))]),
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
    bands = result.bands;
    took = performance.now() - started;
    pending = false;
    $("busy").hidden = true;
    const policies = shown.filter((box) => box.node.role === "policy").length;
    $("status").textContent = shown.length.toLocaleString("en") + " boxes (" + policies + " policies), " + lines.length.toLocaleString("en") + " lines of " +
      nodes.length.toLocaleString("en") + " and " + edges.length.toLocaleString("en") + "; laid out in " + Math.round(took) + " ms" + (data.leftOut.length ? "; left out: " + data.leftOut.join("; ") : "");
    light();
    outline();
    const steps = afterLayout.splice(0);
    if (!steps.length) open();
    for (const step of steps) step();
    draw();
  }

  // Drawing
  function palette() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["bg", "fg", "faint", "line", "box", "edge", "accent", "side", ...Object.keys(data.exposure.states).map((state) => "is-" + state), ...Object.keys(data.effects)]) colors[name] = style.getPropertyValue("--" + name).trim();
    colors.link = colors.namespace = colors.edge;
    const used = new Set(edges.map((edge) => edge[2])), is = (test) => nodes.some(test);
    const marks = [[is((node) => node.role === "object"), "M1 1h28v12H1z", "edge", "object"], [is((node) => node.role === "policy"), "M7 1h16a6 6 0 0 1 0 12H7A6 6 0 0 1 7 1z", "attached", "policy; its colour is that of its effect"],
      [is((node) => node.role === "absent"), "M1 1h28v12H1z", "dangling", "not there, or not known", "4 3"], [true, "M5 1h24v9h-3M1 4h25v9H1z", "edge", "several alike, folded"],
      ...[["error", "dangling"], ["warning", "partial"], ["note", "attached"]].map(([severity, color]) => [is((node) => node.worst === severity), "M15 4a3 3 0 1 1 0 6a3 3 0 1 1 0-6z", color, "finding: " + severity])];
    for (const [state, said] of Object.entries(data.exposure.states)) marks.push([is((node) => node.level === "route" && node.exposure === state), "M1 1v12M6 4h20", "is-" + state, "route: " + said]);
    marks.push([is((node) => node.lost.length), "M3 4h22M1 7h26M3 10h18", "is-open", "struck through: a setting that is lost there"]);
    for (const [effect, said] of Object.entries(data.effects)) marks.push([used.has(effect), "M0 7h30", effect, said, data.dashes[effect]]);
    $("legend").lastElementChild.replaceChildren(...marks.filter((mark) => mark[0]).map(([, path, color, said, dashes]) => {
      const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      picture.setAttribute("aria-hidden", "true");
      line.setAttribute("d", path); line.setAttribute("stroke", colors[color]); line.setAttribute("stroke-dasharray", dashes || "none");
      picture.append(line);
      return element("div", {}, picture, said);
    }));
    if (is((node) => node.change) || edges.some((edge) => edge[5])) $("legend").lastElementChild.append(element("div", { textContent: "+ added   - removed   ~ changed" }));
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
    for (const [name, x, y, width, height] of bands) {
      pen.strokeStyle = colors.line; pen.lineWidth = 1 / Math.min(1, scale); pen.fillStyle = colors.side;
      pen.beginPath(); pen.roundRect(x, y, width, height, 8); pen.globalAlpha = 0.6; pen.fill(); pen.globalAlpha = 1; pen.stroke();
      if (!readable) continue;
      pen.fillStyle = colors.faint; pen.font = "600 12px system-ui, sans-serif";
      pen.fillText(name, Math.max(x + 10, Math.min(x0 + 10, x + width - pen.measureText(name).width - 10)), y + 17);
    }
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
      pen.font = "11px system-ui, sans-serif";
      pen.textAlign = "center";
      for (const line of same) if (line.said && line.label && shown.length <= 600) words(line);
    }
    pen.textAlign = "left";
    for (const box of shown) {
      if (box.x + box.width / 2 < x0 || box.x - box.width / 2 > x1 || box.y + box.height / 2 < y0 || box.y - box.height / 2 > y1) continue;
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
    if (node.level === "route" && node.exposure) { pen.fillStyle = colors["is-" + node.exposure]; pen.beginPath(); pen.roundRect(x, y, 5, height, [5, 0, 0, 5]); pen.fill(); }
    if (!readable) return;
    pen.fillStyle = colors.faint;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(short(box.kind, width - 20), x + 10, y + 15);
    if (box.hosts) pen.fillText(short(box.hosts, width - 18), x + 10, y + 46);
    box.said.forEach(([words, color, more], number) => {
      const at = y + 46 + 14 * (number + (box.hosts ? 1 : 0)), room = pen.measureText(words).width;
      pen.fillStyle = pen.strokeStyle = colors[color === "lost" ? "is-open" : "is-" + color];
      pen.fillText(short(words, width - 18), x + 10, at);
      if (color !== "lost") return;
      pen.lineWidth = 1.2; pen.beginPath(); pen.moveTo(x + 10, at - 4); pen.lineTo(x + 10 + Math.min(room, width - 18), at - 4); pen.stroke();
      pen.fillStyle = colors.faint;
      if (room < width - 60) pen.fillText(short(more, width - 26 - room), x + 16 + room, at);
    });
    pen.fillStyle = colors.fg;
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(short(box.title, width - 18), x + 10, y + 31);
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
  function clamp(value) { return Math.max(0.004, Math.min(3, value)); }
  function fit() {
    if (viewed !== "picture") return;
    const wide = canvas.clientWidth, high = canvas.clientHeight, whole = Math.min(wide / (size.width || 1), high / (size.height || 1), 1.25);
    scale = clamp(whole);
    left = (wide - size.width * scale) / 2; top = Math.max(0, (high - size.height * scale) / 2);
    draw();
  }
  function open() { // the whole where its text can be read; of a larger one the beginning, its Gateways in the middle
    fit();
    if (scale >= READABLE || shown.length <= MOST_UNFOLDED) return;
    const gateways = shown.filter((box) => box.node.level === "gateway"), middle = gateways.length ? gateways : shown;
    const y = middle.reduce((sum, box) => sum + box.y, 0) / middle.length, high = canvas.clientHeight;
    scale = READABLE; left = 0;
    top = Math.min(0, Math.max(high - size.height * scale, high / 2 - y * scale));
    draw();
  }
  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const next = clamp(scale * factor);
    left = x - (x - left) * next / scale; top = y - (y - top) * next / scale; scale = next;
    draw();
  }
  function centre(id) {
    const box = shown.find((each) => each.id === boxOf.get(id));
    if (viewed === "routes") { const cards = [...$("overview").querySelectorAll('[data-box="' + id + '"]')]; if (cards.length) cards[0].scrollIntoView({ block: "nearest" }); }
    if (!box || viewed !== "picture") return;
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
    if (way) { lit = new Set(way.boxes.map((id) => boxOf.get(id)).filter((id) => id !== undefined)); return; }
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
    way = null;
    if (id >= 0 && !boxOf.has(id)) { // hidden by a filter
      for (const name of ["namespace", "kind", "policy"]) $(name).value = "";
      $("problems").checked = false;
      if ($("environment").value) $("environment").value = nodes[id].environment;
      $("rules").checked = $("rules").checked || nodes[id].bare;
      afterLayout.push(() => select(id, true));
      return arrange();
    }
    const box = id >= 0 && shown.find((each) => each.id === boxOf.get(id));
    if (move && viewed === "picture" && box && box.group) { opened.add(box.group.key); afterLayout.push(() => select(id, true)); return arrange(); }
    light();
    panel();
    remember();
    if (move) centre(id);
    mark();
    draw();
  }

  const counted = (number, one, many) => number + " " + (number === 1 ? one : many);
  // A place as a link to the forge where the file lies there as it was read, else as text.
  function placed(place) {
    const [, file, line] = /^(.*):(\d+)$/.exec(place) || [], forge = data.forge, path = forge && forge.files[file];
    if (!path || !forge.base.startsWith("https://")) return document.createTextNode(place);
    return element("a", { href: forge.base + path.split("/").map(encodeURIComponent).join("/") + forge.line + line, textContent: place, target: "_blank", rel: "noopener noreferrer" });
  }
  const link = (id, words, move = true) => element("button", { className: "link", textContent: words || nodes[id].label, onclick: () => select(id, move) });

  function panel() {
    const side = $("panel");
    side.replaceChildren();
    side.hidden = selected < 0 && !way;
    if (way) { wayPanel(side); return resized(); }
    if (selected < 0) return resized();
    const node = nodes[selected], tag = element("span", { className: "tag", textContent: node.state });
    tag.style.color = colors[data.states[node.state]] || colors.faint;
    side.append(element("h2", { textContent: node.label }), element("p", {}, node.state ? tag : "", " "), element("p", { className: "place" }, placed(node.place)));
    if (node.hostnames.length) side.append(element("p", { textContent: node.hostnames.join(", ") }));
    if (data.environments.length > 1) side.append(element("p", { className: "faint", textContent: "environment " + node.environment }));
    const reached = data.exposure.rows.filter((row) => row[2] === selected);
    if (reached.length) side.append(element("h3", { textContent: "Who may reach it" }), ...reached.map(([gateway, box, , hosts, state, words]) => element("div", { className: "row way" }, element("div", { className: "words " + state, textContent: words }), element("div", {}, box < 0 ? gateway || "no Gateway" : link(box, gateway), " · " + hosts.join(", ")))));
    if (node.change) side.append(element("p", {}, element("b", { textContent: { added: "Added by this change", removed: "Removed by this change", changed: "Changed: what acts here, or the object itself, is not what it was" }[node.change] })));
    if (node.change === "removed") return resized();
    if (node.findings.length) {
      side.append(element("h3", { textContent: "Findings (" + node.findings.length + ")" }));
      for (const number of node.findings) {
        const found = data.findings[number];
        side.append(element("div", { className: "row " + found.severity }, element("b", { textContent: found.severity + " " + found.rule }), element("p", { textContent: found.message }),
          ...found.help.map((line) => element("p", { className: "faint", textContent: line })), element("div", { className: "place" }, placed(found.place))));
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
      if (node.role === "object") side.append(element("h3", { textContent: "Effective policy" }), element("p", { className: "faint", textContent: "No policy acts here" + node.unseen + "." }));
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
            lost ? element("div", { textContent: lost }) : "", element("div", { className: "place" }, placed(row.place))));
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
    const plain = (text) => text.toLowerCase().replace(/\//g, " ");
    const why = (node) => (asked.every((word) => plain(node.text).includes(word)) ? "" : node.more.find((text) => asked.every((word) => plain(text).includes(word))));
    hits = asked.length ? nodes.map((node) => [node, why(node)]).filter(([, reason]) => reason !== undefined) : [];
    hits.sort(([one, first], [other, second]) => Boolean(first) - Boolean(second) || one.label.length - other.label.length || (one.label < other.label ? -1 : 1));
    for (const [node, reason] of hits.slice(0, 30)) box.append(element("button", { type: "button", textContent: node.label + (data.environments.length > 1 ? " (" + node.environment + ")" : "") + (node.state ? " · " + node.state : "") + (reason ? " · " + reason : ""), onclick: () => choose(node.id) }));
    if (hits.length > 30) box.append(element("p", { className: "faint", textContent: " " + (hits.length - 30) + " more" }));
    if (asked.length && !hits.length) box.append(element("p", { className: "faint", textContent: " nothing is called that" }));
    box.hidden = !asked.length;
  }
  function choose(id) { $("results").hidden = true; select(id, true); }
  $("search").addEventListener("input", () => { search(); remember(true); });
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && hits.length) choose(hits[0][0].id);
    if (event.key === "ArrowDown" && $("results").firstElementChild) { event.preventDefault(); $("results").firstElementChild.focus(); }
    if (event.key === "Escape") { $("search").value = ""; search(); remember(true); }
  });
  $("results").addEventListener("keydown", (event) => {
    const other = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (other && document.activeElement[other]) { event.preventDefault(); document.activeElement[other].focus(); }
  });

  // Requests: the way that one takes, with the policies that it meets
  function follow(text) {
    way = null;
    if (!text.trim()) { panel(); light(); return draw(); }
    if (!data.requests || data.requests.leftOut) way = { boxes: [], error: data.requests ? data.requests.leftOut : "Nothing is known of requests in this layer." };
    else {
      const request = readRequest(text), chosen = $("environment").value;
      const answers = request.error ? [] : answersOf(data.requests, request).filter((answer) => !chosen || answer.environment === chosen);
      way = { error: request.error || (answers.length ? "" : "There is no Gateway here."), answers, boxes: [...new Set(answers.flatMap((answer) => [...answer.door ? answer.door.boxes : [], ...answer.way ? [...answer.way.boxes, ...answer.way.policies.map((row) => row[1])] : []]))].filter((id) => id >= 0) };
    }
    selected = -1;
    const hidden = way.boxes.filter((id) => !boxOf.has(id)), folded = shown.filter((box) => box.group && way.boxes.some((id) => boxOf.get(id) === box.id));
    if (hidden.some((id) => !nodes[id].bare) || (hidden.length && !$("rules").checked)) {
      for (const name of ["namespace", "kind", "policy"]) $(name).value = "";
      $("problems").checked = false;
      if (hidden.some((id) => nodes[id].bare)) way.boxes = way.boxes.filter((id) => !nodes[id].bare);
    }
    const few = folded.filter((box) => box.group.same.length <= MOST_UNFOLDED);
    few.forEach((box) => opened.add(box.group.key));
    if (hidden.length || few.length) { const now = way; afterLayout.push(() => { way = now; light(); panel(); frame(now.boxes); mark(); }); return arrange(); }
    light(); panel(); frame(way.boxes);
  }
  function frame(ids) { // the boxes as large as they fit
    mark();
    if (viewed !== "picture") return;
    const boxes = shown.filter((box) => ids.some((id) => boxOf.get(id) === box.id));
    if (!boxes.length) return draw();
    const x0 = Math.min(...boxes.map((box) => box.x - box.width / 2)), x1 = Math.max(...boxes.map((box) => box.x + box.width / 2)), y0 = Math.min(...boxes.map((box) => box.y - 30)), y1 = Math.max(...boxes.map((box) => box.y + 30));
    scale = clamp(Math.min(canvas.clientWidth / (x1 - x0 + 60), canvas.clientHeight / (y1 - y0 + 60), 1.25));
    left = canvas.clientWidth / 2 - (x0 + x1) / 2 * scale; top = canvas.clientHeight / 2 - (y0 + y1) / 2 * scale;
    draw();
  }
  function wayPanel(side) {
    side.append(element("h2", { textContent: $("request").value }));
    if (way.error) return side.append(element("p", { textContent: way.error }));
    for (const answer of way.answers) {
      const { way: taken } = answer, said = (head, ...children) => element("div", { className: "row way" }, element("div", { className: "faint", textContent: head }), ...children);
      if (way.answers.length > 1) side.append(element("h3", { textContent: "environment " + answer.environment }));
      side.append(element("p", { className: "answer", textContent: answer.undecided ? "Undecided: " + answer.undecided : answer.result }));
      for (const reason of answer.depends || []) side.append(element("p", { textContent: "It hangs on " + reason + "." }));
      if (answer.undecided || (answer.depends || []).length) side.append(element("p", { className: "faint", textContent: "This command decides it:" }), element("code", { textContent: command() }));
      if (!taken) continue;
      side.append(said("Gateway", answer.door.gateway, taken.listener ? element("div", { textContent: taken.listener }) : ""));
      if (taken.rule) side.append(said("Rule", taken.rule, element("div", { className: "place" }, placed(taken.place))));
      for (const [policy, box, settings, only] of taken.policies) side.append(said("Policy", box >= 0 ? link(box, policy) : policy, settings ? element("div", { textContent: settings }) : "", only ? element("div", { className: "faint", textContent: "to " + only }) : ""));
      for (const [purpose, words] of taken.asked) side.append(said("Asked for " + purpose, words));
      for (const note of answer.notes) side.append(element("p", { className: "faint", textContent: note }));
      for (const other of answer.others) side.append(element("p", { className: "faint", textContent: other.door.gateway + " would take it too: " + other.result }));
    }
  }
  const requestText = () => [$("request").value, ...$("headers").value.split("\n").filter((line) => line.trim())].join("\n").trim();
  function command() {
    const [first, ...headers] = requestText().split("\n"), words = first.trim().split(/\s+/), quoted = (word) => "'" + word.replaceAll("'", "'\\''") + "'";
    return ["policylint trace", words.length > 1 ? words[0] : "GET", quoted(words[words.length - 1]), ...headers.map((line) => "-H " + quoted(line))].join(" ");
  }
  $("asking").addEventListener("submit", (event) => { event.preventDefault(); selected = -1; follow(requestText()); remember(); });

  // The list beside the picture, and the tables
  let current = 0;
  function outline() {
    const list = [...shown].sort((one, other) => one.x - other.x || one.y - other.y);
    current = Math.max(0, list.findIndex((box) => box.id === selected));
    const counts = (box) => above[box.id].filter((number) => nodes[edges[number][0]].role === "policy").length;
    $("outline").replaceChildren(...list.slice(0, 2000).map((box, number) => {
      const said = [box.group ? box.node.kind + ": " + box.title : box.node.label, box.node.state, box.hosts, counts(box) ? counted(counts(box), "policy", "policies") : "", box.node.findings.length ? counted(box.node.findings.length, "finding", "findings") : ""];
      const option = element("div", { id: "box-" + number, textContent: said.filter(Boolean).join(", "), onclick: () => select(box.id, true) });
      option.setAttribute("role", "option"); option.setAttribute("aria-selected", String(number === current)); option.dataset.id = box.id;
      return option;
    }));
    $("outline").setAttribute("aria-activedescendant", list.length ? "box-" + current : "");
  }
  $("outline").addEventListener("keydown", (event) => {
    const options = $("outline").children, next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: options.length - 1 }[event.key];
    if (event.key === "Enter" && options[current]) select(Number(options[current].dataset.id), true);
    if (next === undefined || !options[next]) return;
    event.preventDefault();
    options[current].setAttribute("aria-selected", "false");
    current = next;
    options[current].setAttribute("aria-selected", "true");
    options[current].scrollIntoView({ block: "nearest" });
    $("outline").setAttribute("aria-activedescendant", "box-" + current);
    centre(Number(options[current].dataset.id));
  });
  const chosenCards = () => new Set(way ? way.boxes : selected < 0 ? [] : [selected, ...above[selected].map((number) => edges[number][0]).filter((id) => nodes[id].level === "route")]);
  function mark() { const ids = chosenCards(); for (const each of $("overview").querySelectorAll(".card")) each.classList.toggle("chosen", ids.has(Number(each.dataset.box))); }
  function overview() {
    const holder = $("overview");
    const page = { data, nodes, edges, visible: wanted(), above, below, element, link }, rows = data.exposure.rows.length;
    for (const size of SIZES.slice(narrow() || rows < 40 ? 0 : rows < 150 ? 1 : 2)) { // the first that fits, on a screen where that counts
      writeOverview(holder, page, size);
      if (narrow() || holder.scrollHeight <= holder.clientHeight) break;
    }
    mark();
  }
  function text() { // what is shown where the picture is not
    if (viewed === "table") tables();
    if (viewed === "routes") overview();
    const seen = [...wanted()].map((id) => nodes[id]);
    $("status").textContent = counted(seen.filter((node) => node.level === "route" && node.state !== "missing").length, "route", "routes") + ", " + counted(seen.filter((node) => node.role === "policy").length, "policy", "policies") + (data.leftOut.length ? "; left out: " + data.leftOut.join("; ") : "");
  }
  function tables() { writeTables($("tables"), { data, visible: wanted(), above, below, element, link, placed, narrow: narrow() }); }
  const VIEWS = { routes: "overview", picture: "stage", table: "tables" };
  function view(name) {
    viewed = name;
    for (const [each, id] of Object.entries(VIEWS)) { $(id).hidden = each !== name; $(each).setAttribute("aria-pressed", String(each === name)); }
    $("tools").style.visibility = name === "picture" ? "" : "hidden";
    if (name !== "picture") return text();
    if (stale && nodes.length) { stale = false; layout(); } else draw();
  }
  const narrow = () => innerWidth <= 600, usualView = () => (data.exposure.rows.length && !focus.size && !data.request ? "routes" : narrow() ? "table" : "picture");

  // The link: what is chosen stands in the fragment
  let remembered = null;
  function remember(quietly) {
    if (remembered === null) return; // not before the page has taken what its link says
    const told = new URLSearchParams();
    const tell = (name, value) => value && told.set(name, value);
    if (data !== written) tell("layer", $("layer").value);
    for (const id of SELECTS) if ($(id).value !== usual[id]) told.set(id, $(id).value);
    for (const id of CHECKS) if ($(id).checked !== usual[id]) told.set(id, $(id).checked ? "1" : "0");
    tell("view", viewed === usualView() ? "" : viewed);
    tell("search", $("search").value);
    tell("request", way ? requestText() : "");
    tell("select", selected >= 0 ? nodes[selected].label : "");
    if (String(told) === remembered) return;
    remembered = String(told);
    history[quietly ? "replaceState" : "pushState"](null, "", "#" + remembered);
  }
  function restore() {
    const told = linked();
    remembered = String(told);
    if ((written.layers[told.get("layer")] || written) !== data) return location.reload();
    for (const id of SELECTS) $(id).value = told.get(id) ?? usual[id];
    for (const id of SELECTS) if ($(id).selectedIndex < 0) $(id).value = "";
    for (const id of CHECKS) $(id).checked = told.has(id) ? told.get(id) === "1" : usual[id];
    $("search").value = told.get("search") || "";
    const [first, ...headers] = (told.get("request") || "").split("\n");
    $("request").value = first; $("headers").value = headers.join("\n");
    const label = told.get("select"), inView = (node) => !$("environment").value || node.environment === $("environment").value;
    const chosen = label ? nodes.find((node) => node.label === label && inView(node)) || nodes.find((node) => node.label === label) : undefined;
    opened.clear(); selected = -1; way = null;
    view(VIEWS[told.get("view")] ? told.get("view") : usualView());
    search(); $("results").hidden = document.activeElement !== $("search") || !$("search").value;
    panel();
    if (chosen) afterLayout.push(() => { select(chosen.id, true); if (!pending && viewed === "picture") fit(); if (scale < 0.6) centre(chosen.id); });
    else if (first) afterLayout.push(fit, () => follow(told.get("request")));
    if (nodes.length) arrange();
    if (label && !chosen) $("panel").replaceChildren(element("p", { textContent: "Nothing here is called " + label + "." }));
  }
  addEventListener("popstate", () => { if (linked().toString() !== remembered) restore(); });

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
  $("layer").replaceChildren(element("option", { value: "", textContent: "policies" }), ...Object.keys(written.layers).map((name) => element("option", { value: name, textContent: name })));
  $("layer").value = data === written ? "" : linked().get("layer");
  if (!Object.keys(written.layers).length) $("layer").parentElement.style.display = "none";
  if (!layered) $("bands").parentElement.style.display = "none";
  $("layer").addEventListener("change", () => { location.hash = $("layer").value ? "layer=" + $("layer").value : ""; location.reload(); });
  for (const id of [...SELECTS, ...CHECKS]) $(id).addEventListener("change", () => { opened.clear(); if (!["fold", "rules", "bands"].includes(id)) { selected = -1; way = null; panel(); } remember(); arrange(); });
  $("in").onclick = () => zoom(1.3); $("out").onclick = () => zoom(1 / 1.3); $("fit").onclick = fit;
  $("reset").onclick = () => { for (const id of ["namespace", "kind", "policy", "search"]) $(id).value = ""; $("problems").checked = false; opened.clear(); search(); selected = -1; way = null; panel(); remember(); arrange(); };
  function filtering(open) { $("filtering").setAttribute("aria-expanded", String(open)); $("filters").hidden = !open; $("controls").classList.toggle("more", open); }
  $("filtering").onclick = () => filtering($("filters").hidden);
  $("filters").addEventListener("keydown", (event) => { if (event.key === "Escape") { filtering(false); $("filtering").focus(); } });
  for (const each of Object.keys(VIEWS)) $(each).onclick = () => { view(each); remember(); };
  $("routes").hidden = !data.exposure.rows.length;
  function theme(name) { document.documentElement.dataset.theme = name; palette(); panel(); draw(); }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dark.addEventListener("change", (event) => theme(event.matches ? "dark" : "light"));
  let drag = null;
  const fingers = new Map();
  const pinch = () => { const [one, other] = fingers.values(), area = canvas.getBoundingClientRect(); return { x: (one[0] + other[0]) / 2 - area.left, y: (one[1] + other[1]) / 2 - area.top, apart: Math.hypot(one[0] - other[0], one[1] - other[1]) || 1 }; };
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    drag = { x: event.clientX, y: event.clientY, left, top, moved: fingers.size > 1 };
    try { canvas.setPointerCapture(event.pointerId); } catch (none) { /* a made-up pointer */ }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      const box = at(event.offsetX, event.offsetY);
      if (box !== hover) { hover = box; canvas.style.cursor = box ? "pointer" : ""; canvas.title = box ? [box.group ? box.title : box.node.label, box.node.state, box.group ? "" : box.node.place].filter(Boolean).join("\n") : ""; }
      return;
    }
    if (fingers.size === 2 && fingers.has(event.pointerId)) {
      const before = pinch();
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const after = pinch();
      left += after.x - before.x; top += after.y - before.y;
      return zoom(after.apart / before.apart, after.x, after.y);
    }
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    drag.moved = drag.moved || Math.hypot(dx, dy) > 4;
    if (drag.moved) { canvas.classList.add("drag"); left = drag.left + dx; top = drag.top + dy; draw(); }
  });
  const lift = (event) => {
    canvas.classList.remove("drag");
    fingers.delete(event.pointerId);
    if (drag && !drag.moved && event.type === "pointerup") { const area = canvas.getBoundingClientRect(), box = at(event.clientX - area.left, event.clientY - area.top); if (box && box.group) members(box); else select(box ? box.id : -1, false); }
    const [rest] = fingers.values();
    drag = rest ? { x: rest[0], y: rest[1], left, top, moved: true } : null;
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  function members(box) {
    selected = box.id; way = null; light(); panel();
    $("panel").prepend(element("h2", { textContent: box.node.kind + ": " + box.title }), element("button", { textContent: "Unfold", onclick: () => { opened.add(box.group.key); selected = -1; panel(); arrange(); } }),
      ...box.group.same.slice(0, 40).map((id) => link(id)), element("p", { className: "faint", textContent: (box.group.same.length > 40 ? "and " + (box.group.same.length - 40) + " more. " : "") + "One of them:" }));
    draw();
  }
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY); }, { passive: false });
  addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName)) return;
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


  const headline = [data.title, data.headline].filter(Boolean).join(": ");
  $("title").textContent = headline.slice(0, 1).toUpperCase() + headline.slice(1) + ".";
  $("stand").textContent = [data.stand, data.environments.length === 1 && data.environments[0] ? "environment " + data.environments[0] : ""].filter(Boolean).join(" · ");
  document.title = [headline, data.stand, "policylint"].filter(Boolean).join(" · ");
  const plain = nodes.filter((node) => !node.bare).length;
  $("fold").checked = plain > FOLD_ABOVE;
  if (data.environments.length > 1) $("environment").value = data.environments[0];
  if (innerWidth <= 600) $("legend").open = false;
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  palette();
  let paper = "";
  addEventListener("beforeprint", () => { paper = document.documentElement.dataset.theme; if (paper === "dark") theme("light"); paint(); });
  addEventListener("afterprint", () => theme(paper));
  for (const id of SELECTS) usual[id] = $(id).value;
  for (const id of CHECKS) usual[id] = $(id).checked;
  if (location.hash.startsWith("#selftest=")) { panel(); view("picture"); afterLayout.push(fit, () => selftest(decodeURIComponent(location.hash.slice(10)))); arrange(); }
  else if (location.hash.length > 1) restore();
  else {
    remembered = "";
    panel();
    view(usualView());
    if (data.request) { [$("request").value] = data.request.split("\n"); $("headers").value = data.request.split("\n").slice(1).join("\n"); afterLayout.push(fit, () => follow(data.request)); }
    else if (focus.size) afterLayout.push(fit, () => select([...focus][0], false));
    if (nodes.length) arrange();
  }
  if (!nodes.length) Object.assign($("busy"), { textContent: "Nothing to draw.", hidden: false });
})();
