// Runs in a worker after dagre: boxes and lines in, positions out.
function place(job) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  const ranker = job.boxes.length > 1500 ? "longest-path" : job.boxes.length > 400 ? "tight-tree" : "network-simplex";
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
  return { number: job.number, boxes, lines, width: whole.width || 0, height: whole.height || 0 };
}
if (typeof WorkerGlobalScope !== "undefined") onmessage = (event) => postMessage(place(event.data));
