// The routes as text: under the Gateway through which they are reached, by namespace, coloured by who may reach them.
const SIZES = ["roomy", "close", "tight", "tight dense"], SIGNS = { open: "○", addresses: "◐", unknown: "?", login: "●", closed: "–" };

// What a route loses: settings of policies above it that do not apply there though nothing sets them anew, and to which policy.
function lostAt(data, node) {
  const found = new Map(), stem = (row) => row.field.split(/[.[]/)[0];
  for (const number of node.level === "route" || node.level === "rule" ? node.results : []) {
    const { rows } = data.results[number], kept = new Set(rows.filter((row) => row.state === "applies").map(stem));
    for (const row of rows) if (row.state === "dropped" && !kept.has(stem(row))) found.set(row.field, { field: row.field, by: [...new Set([...(found.get(row.field)?.by.split(", ") || []), ...row.by.split(", ")])].filter(Boolean).join(", ") });
  }
  return [...found.values()];
}

function writeOverview(holder, page, size) {
  const { data, visible, above, edges, nodes, element, link } = page, { states, rows, leftOut } = data.exposure;
  const shown = rows.filter((row) => visible.has(row[2]));
  const sign = (state) => { const made = element("span", { className: "sign " + state, textContent: SIGNS[state] }); made.setAttribute("aria-hidden", "true"); return made; };
  const groups = new Map();
  for (const row of shown) {
    const node = nodes[row[2]], key = row[0] + "\n" + node.environment, group = groups.get(key) || { gateway: row[0], box: row[1], environment: node.environment, namespaces: new Map(), rows: [] };
    groups.set(key, group);
    group.rows.push(row);
    group.namespaces.set(node.namespace, [...(group.namespaces.get(node.namespace) || []), row]);
  }
  const tally = (some) => Object.keys(states).map((state) => [state, some.filter((row) => row[4] === state).length]).filter(([, many]) => many);
  const policies = (box) => {
    const reached = [box, ...page.below[box].map((number) => edges[number][1]).filter((id) => nodes[id].level === "listener")];
    return [...new Set(reached.flatMap((id) => above[id].map((number) => edges[number][0])).filter((id) => nodes[id].role === "policy"))];
  };

  const natural = (one, other) => one.localeCompare(other, "en", { numeric: true });
  const openOf = (group) => group.rows.filter((row) => row[4] === "open").length;
  const several = data.environments.length > 1;
  holder.className = size;
  holder.replaceChildren(
    element("p", { className: "states" }, ...tally(shown).map(([state, many]) => element("span", { className: state }, sign(state), states[state] + " (" + many + ")")), leftOut ? element("span", { textContent: leftOut }) : ""),
    ...[...groups.values()].sort((one, other) => !one.gateway - !other.gateway || openOf(other) - openOf(one) || other.rows.length - one.rows.length).map(section),
  );

  function section(group) {
    const met = group.box < 0 ? [] : policies(group.box);
    const name = group.gateway ? (group.box < 0 ? element("span", { textContent: group.gateway }) : link(group.box, group.gateway)) : element("span", { textContent: "No Gateway leads to these" });
    return element("section", {},
      element("h2", {}, name, element("small", { textContent: [several ? group.environment : "", tally(group.rows).map(([state, many]) => many + " " + states[state]).join(", ")].filter(Boolean).join(" · ") })),
      met.length ? element("p", { className: "met" }, ...met.map((id) => { const at = link(id); at.className = "link " + (data.states[nodes[id].state] || ""); return at; })) : "",
      element("div", { className: "shelf" }, ...[...group.namespaces].sort(([one], [other]) => natural(one, other)).map(([namespace, own]) => element("div", { className: "place-of" }, element("h3", { textContent: namespace || "no namespace" }), element("ul", {}, ...own.sort((one, other) => natural(nodes[one[2]].title, nodes[other[2]].title)).map(card))))));
  }

  function card([, , box, hosts, state, words]) {
    const node = nodes[box], lost = lostAt(data, node), name = node.title.slice(node.title.indexOf("/") + 1), named = hosts.filter((host) => host !== "*");
    const shownHosts = named.slice(0, 2).join(", ") + (named.length > 2 ? " and " + (named.length - 2) + " more" : ""), head = shownHosts || name;
    const made = element("li", { className: "card " + state }, sign(state), link(box, head));
    made.dataset.box = box;
    if (node.change) made.append(element("b", { textContent: " " + node.change }));
    if (size === "roomy") {
      if (shownHosts) made.append(element("div", { className: "faint", textContent: node.kind + " " + name }));
      made.append(element("div", { className: "words " + state, textContent: words }));
    } else { made.append(element("span", { className: "unseen", textContent: ", " + words })); made.title = node.label + "\n" + words; }
    if (node.worst && node.worst !== "note") {
      const told = [...new Set(node.findings.map((number) => data.findings[number]).filter((found) => found.severity === node.worst).map((found) => found.rule))].join(", ");
      made.append(element("span", { className: "tag " + node.worst, title: node.worst + " " + told }, size === "roomy" ? node.worst + " " + told : element("span", { className: "unseen", textContent: node.worst }), size === "roomy" ? "" : "!"));
    }
    for (const row of lost.slice(0, 3)) made.append(element("div", { className: "lost" }, element("s", { textContent: row.field }), size.startsWith("tight") ? "" : " lost" + (row.by ? " to " + row.by : "")));
    if (lost.length > 3) made.append(element("div", { className: "lost", textContent: lost.length - 3 + " more lost" }));
    return made;
  }
}
