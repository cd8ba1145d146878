// What a request meets: the doors, matches and ways that requests.py wrote, read as `policylint trace` reads the world.
// Pure functions; where a browser may see it otherwise the answer is "undecided" and says why.

// "GET https://shop.example.com/admin", and a header in each further line.
function readRequest(text) {
  const [first, ...lines] = text.trim().split(/\r?\n/), words = first.trim().split(/\s+/);
  const [method, url] = words.length > 1 ? words : ["GET", words[0]];
  const parts = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/i.exec(url);
  const place = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(parts[2].replace(/^.*@/, ""));
  const written = (parts[1] || "http").toLowerCase(), scheme = { grpc: "http", grpcs: "https" }[written] || written;
  if (words.length > 2 || !place || !place[1]) return { error: "Write a method and a URL: GET https://shop.example.com/checkout" };
  if (scheme !== "http" && scheme !== "https") return { error: "Only http, https and gRPC requests are answered here; policylint trace takes " + scheme + " too." };
  const grpc = written !== scheme || method.toUpperCase() === "GRPC", headers = new Map();
  let host = place[1].replace(/^\[|\]$/g, "").toLowerCase();
  for (const line of lines.filter((each) => each.trim())) {
    const [, name, value] = /^([^:]*):(.*)$/.exec(line) || [];
    if (!name || !name.trim()) return { error: "Write headers as NAME: VALUE, one in each line: " + line };
    const key = name.trim().toLowerCase(), known = headers.get(key);
    if (key === "host") host = value.trim().toLowerCase();
    else headers.set(key, known === undefined ? value.trim() : known + "," + value.trim());
  }
  if (/\$\{|\{\{|<|>/.test(host)) return { error: "Write a host as clients send it, without variables." };
  const [service, call] = /^\/*(?:(.*)\/)?([^/]*)$/s.exec(parts[3]).slice(1);
  return {
    scheme, host: host.replace(/:\d+$/, ""), port: place[2] ? Number(place[2]) : scheme === "https" ? 443 : 80, grpc, headers,
    method: grpc ? "POST" : method.toUpperCase(), path: parts[3] || "/", query: new URLSearchParams("&" + (parts[4] || "")), service: service || "", call,
  };
}

// What each environment answers: the way, or why it is undecided, and the Gateways that would answer as well.
function answersOf(known, request) {
  return [...new Set(known.doors.map((door) => door.environment))].map((environment) => {
    const doors = known.doors.filter((door) => door.environment === environment && (door.port === null || (door.scheme === request.scheme && door.port === request.port)));
    const answers = doors.map((door) => ({ environment, door, ...throughDoor(known, door, request) }));
    const undecided = answers.find((answer) => answer.undecided);
    if (undecided) return { ...undecided, way: null, others: [] };
    if (!answers.length) return { environment, way: null, others: [], depends: [], undecided: "", result: "refused: nothing here listens for " + request.scheme + " on port " + request.port + "." };
    answers.sort((one, other) => one.way.rank - other.way.rank || one.way.narrow[0] - other.way.narrow[0] || one.way.narrow[1] - other.way.narrow[1]);
    const [best, ...others] = answers;
    if (others.some((answer) => answer.depends.length && answer.way.rank < 2)) best.depends.push("what " + others[0].door.gateway + " answers, which may take it too");
    return { ...best, others: others.filter((answer) => answer.way.rule) };
  });
}

function throughDoor(known, door, request) {
  if (!door.byHosts) door.byHosts = new Map(door.entries.map((entry) => [entry[0].join(), entry]));
  const serving = door.patterns.flatMap((pattern, number) => (servesHost(request.host, pattern) ? [number] : []));
  const entry = door.byHosts.get(serving.join());
  const variables = serving.map((number) => door.patterns[number]).filter(([, parts]) => parts).map(([pattern]) => pattern);
  if (!entry) return { undecided: "hostnames with variables may or may not be this host: " + variables.join(", ") };
  const [, others, calls] = entry;
  let number = request.grpc && calls ? firstTaking(known, calls[0], request) : -2;
  if (number === -2) number = firstTaking(known, others[0], request); // a call that no GRPCRoute takes is a request like any other
  if (Array.isArray(number)) number = branchTaking(known, known.forks[number[0]], request);
  if (typeof number === "string") return { undecided: number };
  const way = known.ways[number === -2 ? others[1] : number];
  if (!way) return { undecided: "no request of this rule was traced" };
  const depends = [...way.depends];
  if (way.cors && request.method === "OPTIONS" && request.headers.has("origin")) depends.push("a CORS filter, which answers preflights itself");
  if (door.vague) depends.push("the ports of " + door.gateway + ", which was not seen");
  const here = (words) => words.replaceAll("{host}", request.host), notes = way.notes.map(here);
  if (variables.length) notes.push(variables.join(", ") + ": taken to be " + request.host + ", as nothing fills in the variable");
  let result = here(way.result);
  if (request.grpc && !way.rule) result = result.replace(/^404:/, "404 (gRPC Unimplemented):");
  if (way.certificate) result = "refused without a client certificate; with one: " + result;
  return { way, result, notes, depends, undecided: "" };
}

// The way of the first match that takes a request, -2 where none does, or words on why that is not decided.
function firstTaking(known, matches, request) {
  for (const [demands, way] of matches) {
    const told = demands.map((number) => (number < 0 ? negated(holds(known.predicates[~number], request)) : holds(known.predicates[number], request)));
    if (told.includes(false)) continue;
    const doubt = told.indexOf(null);
    if (doubt >= 0) {
      const [, , , written, flags] = known.predicates[Math.max(demands[doubt], ~demands[doubt])];
      return "whether it matches " + written + (flags === "variable" ? " is not known, as nothing fills in the variable" : " is for RE2 to say, not for a browser");
    }
    return way;
  }
  return -2;
}

// The way of a rule whose requests authorization answers in several ways: that of the part of which policies ask the same.
function branchTaking(known, fork, request) {
  for (const [way, parts] of fork)
    for (const part of parts) {
      const told = part.map(([predicates, answer]) => {
        const each = predicates.map((number) => holds(known.predicates[number], request));
        return each.includes(true) ? answer : each.includes(null) ? null : !answer;
      });
      if (told.includes(false)) continue;
      return told.includes(null) ? "what a policy lets in is for RE2 to say, not for a browser" : way;
    }
  return -1;
}

const negated = (told) => (told === null ? null : !told);

function holds([dimension, type, value, , flags], request) {
  const space = dimension.indexOf(" "), name = dimension.slice(space + 1);
  const actual = dimension.startsWith("header ") ? request.headers.get(name) : dimension.startsWith("query ") ? request.query.get(name) : request[dimension];
  if (actual === undefined || actual === null) return false;
  if (type === "Exact") return actual === value;
  if (type === "PathPrefix") return actual === value.replace(/\/+$/, "") || actual.startsWith(value.replace(/\/+$/, "") + "/");
  if (value === false) return false;
  if (value === null || actual.length > 300 || !/^[ -~]*$/.test(actual)) return null;
  const taken = new RegExp("^(?:" + value + ")$", flags === "i" ? flags : "").test(actual);
  return taken && flags === "variable" ? null : taken;
}

function servesHost(host, [pattern, parts]) {
  if (!pattern || pattern === host) return true;
  if (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)) && host.length >= pattern.length) return true;
  return Boolean(parts) && hasParts(host, parts);
}

// Whether a host is made of the parts between the variables of a pattern, with something in place of each variable.
function hasParts(host, [first, ...rest]) {
  if (!rest.length) return host === first;
  const last = rest[rest.length - 1];
  let position = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = host.indexOf(part, position + 1);
    if (found < 0) return false;
    position = found + part.length;
  }
  return host.startsWith(first) && position < host.length - last.length && host.endsWith(last);
}
