// What the picture shows as tables: objects, policies, findings; sorted by a click on a head, for screen readers and paper.
const MOST_ROWS = 500;
const RANK = { error: 0, warning: 1, note: 2, "": 3 };

// `page`: the data, the boxes that are visible, and how to make elements, links to boxes and links to places.
function writeTables(holder, page) {
  const { data, visible, above, below, element, link, placed, narrow } = page;
  const drawn = data.nodes.filter((node) => visible.has(node.id)), several = data.environments.length > 1;
  const concerned = new Set(drawn.flatMap((node) => node.findings));
  const environment = several ? [["Environment", (node) => node.environment]] : [];
  const findings = ["Findings", (node) => [...new Set(node.findings.map((number) => data.findings[number].rule))].join(", ")], place = ["Place", (node) => node.place, (node) => placed(node.place)];
  const attached = (node) => above[node.id].filter((number) => data.nodes[data.edges[number][0]].role === "policy");
  const words = (number) => [data.effects[data.edges[number][2]], data.edges[number][3]].filter(Boolean).join(": ");
  holder.replaceChildren(...[
    ...[["Routes", (node) => node.level === "route" && node.role === "object"], ["Objects", (node) => node.role !== "policy" && !(node.level === "route" && node.role === "object")]].map(([title, belongs]) => sorted(title, drawn.filter(belongs), [
      ["Name", (node) => node.label, (node) => link(node.id)], ...environment, ["Hostnames", (node) => node.hostnames.join(", ")],
      ["Login", (node) => (title === "Routes" ? node.login.replace(/^login: /, "") : "")], ["Lost", (node) => node.lost.map((row) => row.field + (row.by ? " to " + row.by : "")).join(", ")], ["State", (node) => node.state],
      ["Policies", (node) => attached(node).map((number) => data.nodes[data.edges[number][0]].label).join(", ")], findings, place,
    ])),
    sorted("Policies", drawn.filter((node) => node.role === "policy"), [
      ["Name", (node) => node.label, (node) => link(node.id)], ...environment, ["State", (node) => node.state],
      ["Attached to", (node) => below[node.id].map((number) => data.nodes[data.edges[number][1]].label).join(", ")], ["Effect", (node) => [...new Set(below[node.id].map(words))].join("; ")], findings, place,
    ]),
    sorted("Findings", data.findings.map((finding, number) => ({ ...finding, number, box: data.nodes.findIndex((node) => node.findings.includes(number)) })).filter((finding) => concerned.has(finding.number)), [
      ["Severity", (finding) => finding.severity, null, (finding) => RANK[finding.severity]], ["Rule", (finding) => finding.rule],
      ["About", (finding) => data.nodes[finding.box].label, (finding) => link(finding.box)], ["Message", (finding) => finding.message], ["Place", (finding) => finding.place, (finding) => placed(finding.place)],
    ]),
  ].filter(Boolean));

  function sorted(title, rows, columns) {
    const body = element("tbody"), caption = element("caption", { textContent: title + " (" + rows.length.toLocaleString("en") + ")" });
    if (!rows.length) return "";
    const used = columns.filter(([head, text], number) => !number || rows.some((row) => text(row)));
    const heads = used.map(([head, text, , key]) => element("th", { scope: "col" }, element("button", { textContent: head, type: "button", onclick: () => order(head, key || text) })));
    let by = "", ascending = true, most = MOST_ROWS;
    const fill = () => {
      body.replaceChildren(...rows.slice(0, most).map((row) => element("tr", {}, ...used.map(([head, text, shown], number) => {
        const cell = element(number ? "td" : "th", number ? { hidden: narrow && !text(row) } : { scope: "row" }, (shown || text)(row));
        cell.dataset.head = head;
        return cell;
      }))));
      if (rows.length > most) body.append(element("tr", {}, element("td", { colSpan: used.length }, element("button", { textContent: "Show all " + rows.length.toLocaleString("en"), onclick: () => { most = Infinity; fill(); } }))));
    };
    const order = (head, key) => {
      ascending = by === head ? !ascending : true;
      by = head;
      const value = new Map(rows.map((row) => [row, key(row)]));
      rows.sort((one, other) => (value.get(one) < value.get(other) ? -1 : value.get(one) > value.get(other) ? 1 : 0) * (ascending ? 1 : -1));
      used.forEach(([each], number) => (each === head ? heads[number].setAttribute("aria-sort", ascending ? "ascending" : "descending") : heads[number].removeAttribute("aria-sort")));
      fill();
    };
    fill();
    return element("table", {}, caption, element("thead", {}, element("tr", {}, ...heads)), body);
  }
}
