// Runs in a worker after dagre: boxes ([id, width, height, band, level or -1 for policies]) and lines in, positions out.
function place(job) {
  return job.bands ? inBands(job) : byDagre(job);
}

function byDagre(job) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  const ranker = job.boxes.length > 400 ? "tight-tree" : "network-simplex";
  graph.setGraph({ rankdir: "LR", ranker, nodesep: 12, ranksep: 46, edgesep: 6, marginx: 20, marginy: 20 });
  for (const [id, width, height] of job.boxes) graph.setNode(String(id), { width, height });
  job.lines.forEach(([start, end, room, weight], number) => {
    graph.setEdge(String(start), String(end), { width: room, height: room ? 12 : 0, labelpos: "c", weight }, String(number));
  });
  dagre.layout(graph);
  const boxes = job.boxes.map(([id]) => { const box = graph.node(String(id)); return [id, box.x, box.y]; });
  const lines = job.lines.map(([start, end], number) => {
    const line = graph.edge(String(start), String(end), String(number));
    return { points: (line.points || []).map((point) => [point.x, point.y]), label: line.x === undefined ? null : [line.x, line.y] };
  });
  const whole = graph.graph();
  return { number: job.number, boxes, lines, bands: [], width: whole.width || 0, height: whole.height || 0 };
}

// Columns by what leads to what, policies in one right before what they name; one band of rows for each namespace.
// Thousands of boxes take well under a second.
function inBands(job) {
  const place = new Map(job.boxes.map(([id], number) => [id, number])), near = job.boxes.map(() => []);
  const ends = job.lines.map(([start, end]) => [place.get(start), place.get(end)]);
  for (const [start, end] of ends) { near[start].push(end); near[end].push(start); }
  const column = columns(job, ends), used = [...new Set(column)].sort((one, other) => one - other);
  const x = new Map(), gap = job.lines.some((line) => line[2]) ? 130 : 90;
  let right = 30;
  for (const each of used) {
    const width = job.boxes.reduce((widest, box, number) => (column[number] === each ? Math.max(widest, box[1]) : widest), 0);
    x.set(each, right + width / 2);
    right += width + gap;
  }
  const cells = new Map(), order = [], seen = new Set();
  for (const root of [...job.boxes.keys()].sort((one, other) => column[one] - column[other])) {
    const pile = [root];
    while (pile.length) { const next = pile.pop(); if (!seen.has(next)) { seen.add(next); order.push(next); pile.push(...[...near[next]].reverse()); } }
  }
  for (const number of order) {
    const band = job.boxes[number][3];
    if (!cells.has(band)) cells.set(band, new Map());
    if (!cells.get(band).has(column[number])) cells.get(band).set(column[number], []);
    cells.get(band).get(column[number]).push(number);
  }
  const y = job.boxes.map(() => 0), made = [];
  const leads = ([band, byColumn]) => Math.min(...byColumn.keys()) * 10000 + band; // Gateways first
  for (const [band, byColumn] of [...cells].sort((one, other) => leads(one) - leads(other))) {
    const head = job.bands[band] ? 26 : 4;
    for (const cell of byColumn.values()) stack(cell, cell.map(() => 0), y, job.boxes);
    for (let sweep = 0; sweep < 6; sweep++) for (const cell of sweep % 2 ? [...byColumn.values()].reverse() : byColumn.values()) {
      const wish = new Map(cell.map((number) => { const inside = near[number].filter((other) => job.boxes[other][3] === band); return [number, inside.length ? inside.reduce((sum, other) => sum + y[other], 0) / inside.length : y[number]]; }));
      cell.sort((one, other) => wish.get(one) - wish.get(other) || one - other);
      stack(cell, cell.map((number) => wish.get(number)), y, job.boxes);
    }
    let high = Infinity, low = -Infinity, first = Infinity, last = -Infinity;
    for (const cell of byColumn.values()) for (const number of cell) {
      high = Math.min(high, y[number] - job.boxes[number][2] / 2); low = Math.max(low, y[number] + job.boxes[number][2] / 2);
      first = Math.min(first, x.get(column[number]) - job.boxes[number][1] / 2); last = Math.max(last, x.get(column[number]) + job.boxes[number][1] / 2);
    }
    made.push({ name: job.bands[band], members: [...byColumn.values()].flat(), first, up: head - high, width: Math.max(last - first + 28, job.bands[band].length * 7.4 + 24), height: low - high + head + 12 });
  }
  const [centres, bands, width, height] = shelved(made, (number) => x.get(column[number]), y);
  const lines = ends.map(([start, end]) => {
    const from = [centres[start] + job.boxes[start][1] / 2, y[start]], to = [centres[end] - job.boxes[end][1] / 2, y[end]];
    const bend = Math.max(20, Math.min(70, (to[0] - from[0]) / 2));
    return { points: [from, [from[0] + bend, from[1]], [to[0] - bend, to[1]], to], label: [to[0] - 62, to[1] - 6] };
  });
  return { number: job.number, boxes: job.boxes.map(([id], number) => [id, centres[number], y[number]]), lines, bands, width, height };
}

// Bands one below the other, in as many shelves as make the whole about as wide as a screen.
function shelved(made, centre, y) {
  const total = made.reduce((sum, band) => sum + band.height + 12, 0), widest = made.reduce((most, band) => Math.max(most, band.width), 1);
  const most = Math.max(1.08 * total / Math.max(1, Math.round(Math.sqrt(total / widest / 1.6))), ...made.map((band) => band.height)), centres = [], bands = [];
  let left = 20, top = 16, wide = 0, width = 0, height = 0, shelf = [];
  const close = () => {
    const first = Math.min(...shelf.map((band) => band.first));
    for (const band of shelf) {
      for (const number of band.members) centres[number] = centre(number) - first + left + 14;
      if (band.name) bands.push([band.name, band.first - first + left, band.top, band.width, band.height]);
      wide = Math.max(wide, band.first - first + band.width);
    }
    left += wide + 70; width = left - 50; wide = 0; top = 16; shelf = [];
  };
  for (const band of made) {
    if (shelf.length && top + band.height > most + 16) close();
    band.top = top;
    for (const number of band.members) y[number] += top + band.up;
    top += band.height + 12;
    height = Math.max(height, top);
    shelf.push(band);
  }
  if (shelf.length) close();
  return [centres, bands, width, height];
}

function columns(job, ends) {
  const column = job.boxes.map((box) => 2 * box[4] + 1), first = new Map();
  for (const [start, end] of ends) if (job.boxes[start][4] < 0 && job.boxes[end][4] >= 0) first.set(start, Math.min(first.get(start) ?? Infinity, 2 * job.boxes[end][4]));
  return column.map((own, number) => (job.boxes[number][4] < 0 ? first.get(number) ?? 0 : own));
}

// Rows without overlap, as near as may be to the wished ones: neighbours that collide share the shift.
function stack(cell, wishes, y, boxes) {
  const blocks = [];
  cell.forEach((number, row) => {
    blocks.push([wishes[row] - boxes[number][2] / 2, boxes[number][2] + 12, 1, row]);
    while (blocks.length > 1 && blocks[blocks.length - 2][0] / blocks[blocks.length - 2][2] + blocks[blocks.length - 2][1] > blocks[blocks.length - 1][0] / blocks[blocks.length - 1][2]) {
      const [total, height, count] = blocks.pop(), before = blocks[blocks.length - 1];
      before[0] += total - count * before[1]; before[1] += height; before[2] += count;
    }
  });
  blocks.forEach(([total, , count, first], number) => {
    let edge = total / count;
    for (let row = first; row < (number + 1 < blocks.length ? blocks[number + 1][3] : cell.length); row++) { y[cell[row]] = edge + boxes[cell[row]][2] / 2; edge += boxes[cell[row]][2] + 12; }
  });
}
if (typeof WorkerGlobalScope !== "undefined") onmessage = (event) => postMessage(place(event.data));
