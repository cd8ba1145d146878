"use strict";
const element = (name) => document.getElementById(name);
const EXAMPLES = JSON.parse(element("examples").textContent);
const TABS = ["findings", "explain", "trace", "reach", "graph", "diff"];
const FIELDS = ["after", "before", "object", "request"];
let tab = "findings";
let worker, number = 0, isReady = false, timer, asked = 0;

// Asks once nothing has changed for a moment.
function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, 250);
}

// What a tab asks policylint; null while something is missing.
function command() {
  switch (tab) {
    case "explain": return element("object").value ? ["explain", element("object").value, "."] : null;
    case "trace": return element("request").value ? ["trace", ...element("request").value.trim().split(/\s+/), "."] : null;
    case "reach": return ["reach", "."];
    case "graph": return ["graph", "--format", "html", "."];
    case "diff": return ["diff", "--rendered-before", "../before", "--rendered-after", "."];
    default: return ["lint", "-o", "text", "--output", "json-v1=/findings.json", "."];
  }
}

function ask() {
  if (!isReady) return;
  number += 1;
  asked = columns();
  say("…");
  const question = { after: element("after").value, before: element("before").value, command: command(), columns: asked };
  worker.postMessage({ number, question: JSON.stringify(question) });
}

// How many letters of printed text are as wide as the place for it.
function columns() {
  const ruler = document.createElement("span"), printed = element("printed"), isHidden = printed.hidden;
  ruler.textContent = "0".repeat(100);
  printed.hidden = false;
  printed.append(ruler);
  const letter = ruler.getBoundingClientRect().width / 100, width = printed.clientWidth;
  ruler.remove();
  printed.hidden = isHidden;
  return Math.floor(width / letter);
}

// The lines that findings are about are underlined under the text of the editor, which shows through.
function mark(findings) {
  const worst = new Map();
  for (const severity of ["note", "warning", "error"]) {
    for (const found of findings) if (found.severity === severity) worst.set(found.location.line, severity);
  }
  element("marks").replaceChildren(...element("after").value.split("\n").flatMap((line, index) => {
    if (!worst.has(index + 1)) return [line + "\n"];
    const text = document.createElement("span");
    text.className = worst.get(index + 1);
    text.textContent = line.trim();
    return [line.slice(0, line.length - line.trimStart().length), text, "\n"];
  }));
  scroll();
}

function scroll() {
  element("marks").scrollTop = element("after").scrollTop;
  element("marks").scrollLeft = element("after").scrollLeft;
}

// The page that `policylint graph` writes, in a frame of its own, which may run its scripts and reach nothing of this page.
function frame(page) {
  const made = document.createElement("iframe"), address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  made.title = "Graph of routes, Gateways and policies";
  made.setAttribute("sandbox", "allow-scripts");
  made.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  made.src = address;
  return made;
}

function say(text) { element("state").textContent = text; }

function show(findings, printed) {
  element("printed").textContent = printed;
  element("findings").replaceChildren(...findings.map((finding) => {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.className = finding.severity;
    button.append(`${finding.severity} ${finding.rule}: ${finding.message} `);
    const place = document.createElement("small");
    place.textContent = `line ${finding.location.line}`;
    button.append(place);
    button.addEventListener("click", () => go(finding.location.line));
    row.append(button);
    return row;
  }));
  element("findings").hidden = !findings.length;
  element("printed").hidden = !printed;
  element("picture").hidden = true;
}

function go(line) {
  const editor = element("after");
  const lines = editor.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  editor.focus();
  editor.setSelectionRange(start, start + (lines[line - 1] || "").length);
  editor.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(editor).lineHeight));
}

function answered({ answer, objects }) {
  element("objects").replaceChildren(...objects.map((name) => new Option(name, name)));
  if (!answer) {
    show([], tab === "explain" ? `Name an object:\n${objects.join("\n")}` : "Name a request, such as GET http://shop.example.com/");
    say("");
    return;
  }
  const hasPicture = tab === "graph" && answer.code === 0;
  element("picture").replaceChildren(...(hasPicture ? [frame(answer.out)] : []));
  if (tab === "findings") mark(answer.findings);
  show(answer.findings, hasPicture ? "" : [answer.out, answer.err].filter(Boolean).join("\n"));
  element("picture").hidden = !hasPicture;
  say(`exit code ${answer.code}, ${answer.milliseconds} ms`);
  document.documentElement.dataset.answered = String(number);
}

function choose(name) {
  tab = TABS.includes(name) ? name : "findings";
  for (const button of document.querySelectorAll("[role=tab]")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === tab));
  }
  for (const label of document.querySelectorAll("#inputs label")) {
    label.classList.toggle("shown", label.dataset.for === tab);
  }
  if (tab === "diff") element("former").open = true;
  ask();
}

function load(name) {
  if (!Object.hasOwn(EXAMPLES, name)) return false;
  const example = EXAMPLES[name];
  for (const field of FIELDS) element(field).value = example[field] || "";
  element("example").value = name;
  element("former").open = Boolean(example.before);
  choose(example.tab || "findings");
  return true;
}

// The fragment holds everything: #example=NAME, or what is in the editors, deflated. Whoever made a link may have made it
// to become longer than any memory: what is longer than people write is not read.
const LONGEST = 4 * 2 ** 20;

async function through(bytes, by) {
  const reader = new Blob([bytes]).stream().pipeThrough(by).getReader();
  const pieces = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > LONGEST) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    pieces.push(read.value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

async function link() {
  const state = { tab };
  for (const field of FIELDS) if (element(field).value) state[field] = element(field).value;
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  return "#state=" + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function restore() {
  const asked = location.hash.slice(1);
  let isRead = true;
  try {
    if (asked.startsWith("state=")) {
      const text = atob(asked.slice(6).replaceAll("-", "+").replaceAll("_", "/"));
      const bytes = await through(Uint8Array.from(text, (letter) => letter.charCodeAt(0)), new DecompressionStream("deflate-raw"));
      const state = JSON.parse(new TextDecoder().decode(bytes));
      for (const field of FIELDS) element(field).value = typeof state[field] === "string" ? state[field] : "";
      element("former").open = Boolean(state.before);
      choose(state.tab);
      return true;
    }
    if (load(decodeURIComponent(asked.replace(/^example=/, "")))) return true;
  } catch (error) {
    isRead = false;
  }
  load(Object.keys(EXAMPLES)[0]);
  if (!isRead) say("This link cannot be read.");
  return isRead;
}

async function parts() {
  const found = {};
  await Promise.all(Array.from(document.querySelectorAll("script[data-part]"), async (script) => {
    const text = atob(script.textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
    const whole = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
    found[script.dataset.part] = await whole.arrayBuffer();
    script.remove();
  }));
  return found;
}

async function start() {
  for (const name of Object.keys(EXAMPLES)) element("example").append(new Option(name, name));
  element("example").addEventListener("change", () => load(element("example").value));
  for (const button of document.querySelectorAll("[role=tab]")) {
    button.addEventListener("click", () => choose(button.dataset.tab));
  }
  for (const field of FIELDS) {
    element(field).addEventListener("input", soon);
  }
  element("after").addEventListener("input", () => mark([]));
  element("after").addEventListener("scroll", scroll);
  new ResizeObserver(() => { if (columns() !== asked) soon(); }).observe(element("inputs"));
  element("link").addEventListener("click", async () => {
    const fragment = await link();
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is in the clipboard.");
    } catch (error) {
      say("The link is in the address bar.");
    }
  });
  window.addEventListener("hashchange", restore);
  if (await restore()) say("Loading Python …");
  const code = new Blob([element("worker").textContent], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(code));
  worker.onmessage = ({ data }) => {
    if (data.ready) {
      isReady = true;
      document.documentElement.dataset.ready = String(Math.round(performance.now()));
      ask();
    } else if (data.failure) {
      say(`This went wrong: ${data.failure}`);
    } else if (data.number === number) {
      answered(data.answer);
    }
  };
  worker.onerror = (event) => say(`This went wrong: ${event.message}`);
  const found = await parts();
  worker.postMessage({ parts: found }, Object.values(found));
}

start();
