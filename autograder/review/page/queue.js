// The page of the grader's queue. It asks its own server for what waits, shows one card, and tells what was decided.
"use strict";

const $ = (id) => document.getElementById(id);
const tab = sessionStorage.tab || (sessionStorage.tab = crypto.randomUUID());
const REQUESTS = "?requests"; // the line on the left for students who ask for another look
const LONG = ["written", "function", "module", "sampled", "trained", "tests"]; // kinds of answers with long lines
const state = { queue: null, card: null, part: "", chosen: new Set(), out: new Set(), here: 0, skipped: [], busy: false };

// Elements without markup: text is only ever text, but for what the server has made of an answer.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "html") element.innerHTML = value;
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

async function call(verb, told, post) {
  const headers = { "X-Tab": tab, "X-Grader": encodeURIComponent($("grader").value) };
  const query = post ? "" : "?" + new URLSearchParams(told || {});
  const options = post ? { method: "POST", headers, body: JSON.stringify(told) } : { headers };
  let response;
  try {
    response = await fetch(`/api/${verb}${query}`, options);
  } catch {
    throw new Error("The server does not answer. Start `autograder review` again; what was decided is safe.");
  }
  if (response.status === 403) throw new Error(await response.text());
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { conflict: response.status === 409 });
  return answer;
}

let clock;
function say(text, bad = false) {
  $("message").textContent = text;
  $("message").className = bad ? "bad" : "";
  $("message").hidden = false;
  clearTimeout(clock);
  clock = setTimeout(() => { $("message").hidden = true; }, bad ? 12000 : 4000);
}

const short = (number) => String(Math.round(number * 10000) / 10000);
const points = (count) => (count === 1 ? "1 point" : `${short(count)} points`);
const students = (count) => (count === 1 ? "1 student" : `${count} students`);
const who = (member) => ($("names").checked ? member.student : member.mark);

// What waits, on the left.

async function refresh() {
  state.queue = await call("queue");
  const queue = state.queue;
  if (document.activeElement !== $("grader")) $("grader").value ||= queue.grader;
  document.title = `${queue.assignment}: ${queue.waiting} held`;
  $("title").textContent = queue.assignment;
  const pages = queue.pages ? ` · ${queue.pages} pages to write` : "";
  $("progress").textContent = `${queue.waiting} answers wait, ${queue.decided} decided${pages}`;
  showParts(queue);
  showHistory(queue);
}

function showParts(queue) {
  const parts = new Map();
  for (const group of queue.groups) {
    const part = parts.get(group.item) || { groups: 0, answers: 0 };
    part.groups += 1;
    part.answers += group.size;
    parts.set(group.item, part);
  }
  const lines = [];
  if (queue.requests.length) lines.push(partLine(REQUESTS, "Another look", `${queue.requests.length}`));
  let notebook = "";
  for (const item of [...parts.keys()].sort()) {
    const [own, name] = [item.slice(0, item.indexOf(".")), item.slice(item.indexOf(".") + 1)];
    if (own !== notebook) lines.push(make("li", { class: "notebook" }, own));
    notebook = own;
    const { groups, answers } = parts.get(item);
    lines.push(partLine(item, name, groups === answers ? `${answers}` : `${answers} in ${groups}`));
  }
  $("parts").replaceChildren(...lines);
}

function partLine(item, name, count) {
  const here = state.part === item;
  const open = () => { state.part = item; state.skipped = []; act.next(); };
  const words = name.split("_").flatMap((word, place) => (place ? ["_", make("wbr"), word] : [word]));
  return make("li", {}, make("button", { type: "button", "aria-current": here ? "true" : false, onclick: open },
    make("span", { class: "name" }, ...words), make("span", { class: "count" }, count)));
}

function showHistory(queue) {
  const lines = queue.history.map((done) => {
    const time = new Date(done.time * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const what = done.asked ? done.criteria[0] : `${short(done.points)} of ${short(done.maximum)}`;
    const text = `${time} ${done.by}: ${done.item.split(".").pop()}, ${students(done.students.length)}, ${what}`;
    const by_rule = done.follows ? " (followed that decision)" : "";
    const undone = done.undone ? ` – taken back by ${done.undone}` : "";
    const undo = make("button", { type: "button", onclick: () => act.takeBack(done.id) }, "undo");
    return make("li", { class: done.undone ? "undone" : "", title: done.comment }, text + by_rule + undone, " ",
      done.undone ? "" : undo);
  });
  $("history").replaceChildren(...lines);
}

// The card.

// All that waits, each with the line on the left that it belongs to.
function waiting() {
  const line = (asked) => ({ ...asked, item: REQUESTS });
  return [...state.queue.groups, ...state.queue.requests.map(line)];
}

// What nobody else looks at: first of this part, then of the others, and what was skipped when all else is done.
async function next() {
  await refresh();
  const free = waiting().filter((card) => !card.open_by);
  let left = free.filter((card) => !state.skipped.includes(card.id));
  if (!left.length) [left, state.skipped] = [free, []];
  if (!left.length) return nothingLeft();
  await show((left.find((card) => card.item === state.part) || left[0]).id);
}

async function show(id) {
  const asked = state.queue.requests.some((request) => request.id === id);
  let card;
  try {
    card = await call(asked ? "request" : "card", { id });
  } catch (error) {
    if (!error.conflict) throw error;
    state.skipped.push(id);
    say(error.message);
    return next();
  }
  state.card = card;
  state.part = asked ? REQUESTS : card.item;
  state.chosen = new Set(card.rubric.flatMap((item, place) => (item.chosen ? [place] : [])));
  state.out = new Set();
  state.here = 0;
  draw();
  showParts(state.queue);
  $("card").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function nothingLeft() {
  state.card = null;
  call("leave", {}, true).catch(() => {});
  const others = new Set(waiting().map((card) => card.open_by));
  const text = others.size
    ? `What is left is looked at by ${[...others].join(", ")}.`
    : "Nothing waits. All decisions are in the gradebook.";
  $("card").replaceChildren(make("p", { class: "done" }, text));
}

function draw() {
  const card = state.card;
  const [notebook, part] = [card.item.slice(0, card.item.indexOf(".")), card.item.slice(card.item.indexOf(".") + 1)];
  const box = (title, html, wide) => (html ? make("section", { class: wide ? "box wide" : "box" },
    make("h2", {}, title), make("div", { html })) : "");
  const asked = card.asked !== undefined;
  const top = make("div", { class: "top" }, make("h2", { class: "part" }, card.whole ? "The whole notebook" : part), make("span", {}, notebook),
    make("span", {}, points(card.maximum)),
    make("span", { class: "size", id: "size" }, asked ? "asks for another look" : students(card.members.length)));
  const wide = !card.reference || LONG.includes(card.kind);
  const request = asked ? make("section", { class: "box wide" }, make("h2", {}, "What the student asks"),
    make("div", { html: card.asked }), make("p", {}, `It has ${card.has === null ? "no points" : points(card.has)} now.`)) : "";
  const question = card.question ? make("details", { class: "box wide" }, make("summary", {}, "The question"),
    make("div", { html: card.question })) : "";
  const sides = make("div", { class: "sides" }, request, question, box("Answer", card.answer, wide),
    box("Reference of this variant", card.reference, wide), box(asked ? "What the judge found" : "Why it is held", card.why, true));
  $("card").replaceChildren(top, sides, members(card), decision(card, asked));
  reach();
  drawChosen();
}

// What is longer than its box can be scrolled by the keyboard.
function reach() {
  for (const pre of $("card").querySelectorAll("pre")) if (pre.scrollHeight > pre.clientHeight) pre.tabIndex = 0;
}

function members(card) {
  if (card.members.length === 1) {
    const only = card.members[0];
    return make("p", { class: "rest" }, make("span", { class: "who" }, who(only)), only.variant ? ` · variant: ${only.variant}` : "");
  }
  const own = card.members.some((member) => member.text || member.reference);
  const lines = card.members.map((member, place) => {
    const check = make("input", { type: "checkbox", checked: !state.out.has(member.student), onchange: () => takeOut(place) });
    const variant = card.members.some((other) => other.variant !== member.variant) ? member.variant : "";
    return make("li", { class: state.out.has(member.student) ? "out" : "" },
      make("label", {}, check, make("span", { class: "who" }, who(member)), make("span", { class: "variant" }, variant),
        member.text ? make("code", {}, member.text) : ""),
      member.reference ? make("div", { class: "variant" }, "reference: ", make("span", { html: member.reference })) : "");
  });
  return make("section", {}, make("h2", {}, "The same answer from"), make("ul", { class: own ? "members own" : "members", id: "members" }, ...lines));
}

function decision(card, asked) {
  const items = card.rubric.map((item, place) => make("li", {}, make("button", { type: "button", onclick: () => choose(place) },
    make("kbd", {}, String(place + 1)), make("span", { class: "worth" }, short(item.points)), make("span", {}, item.label))));
  const write = asked ? "Answer to the student" : "Comment for all of them";
  const stubs = card.listable && !asked ? [
    make("button", { type: "button", onclick: () => askStub("mistake") }, "Known mistake… ", make("kbd", {}, "m")),
    make("button", { type: "button", onclick: () => askStub("equivalent") }, "Equivalent… ", make("kbd", {}, "e"))] : [];
  return make("section", { class: "decide", "aria-label": "Decision" },
    make("ul", { class: "rubric", id: "rubric" }, ...items),
    card.rest ? make("details", { class: "rest" }, make("summary", {}, "What else the rubric says"), make("div", { html: card.rest })) : "",
    make("div", { class: "row" },
      make("label", {}, "Points ", make("input", { id: "points", inputmode: "decimal", autocomplete: "off", oninput: drawChosen, value: asked ? short(card.has || 0) : "" }),
        ` of ${short(card.maximum)}`),
      make("textarea", { id: "comment", rows: 1, placeholder: `${write} (Markdown, $…$)`, "aria-label": write })),
    make("div", { class: "row" },
      make("button", { type: "button", class: "act", id: "accept", onclick: () => act.accept() }),
      make("button", { type: "button", onclick: () => act.skip() }, "Skip ", make("kbd", {}, "s")),
      make("button", { type: "button", onclick: () => act.takeBack("") }, "Undo ", make("kbd", {}, "u")), ...stubs));
}

function drawChosen() {
  const card = state.card;
  [...$("rubric").querySelectorAll("button")].forEach((button, place) => button.setAttribute("aria-pressed", state.chosen.has(place)));
  const lines = $("members") ? [...$("members").children] : [];
  lines.forEach((line, place) => {
    const out = state.out.has(card.members[place].student);
    line.className = [place === state.here ? "here" : "", out ? "out" : ""].join(" ").trim();
    line.querySelector("input").checked = !out;
  });
  const left = card.members.length - state.out.size;
  const sentence = card.asked === undefined ? `Give it to ${students(left)} ` : declines() ? "Decline: the points stay " : "Accept, with these points ";
  $("accept").replaceChildren(sentence, make("kbd", {}, "Enter"));
  $("accept").disabled = !left;
  if (card.asked === undefined) $("size").textContent = state.out.size ? `${left} of ${students(card.members.length)}` : students(left);
}

function choose(place) {
  const items = state.card.rubric;
  if (!items[place]) return;
  if (state.chosen.has(place)) state.chosen.delete(place);
  else {
    if (items[place].only) state.chosen.clear();
    [...state.chosen].filter((other) => items[other].only).forEach((other) => state.chosen.delete(other));
    state.chosen.add(place);
  }
  const sum = [...state.chosen].reduce((total, other) => total + items[other].points, 0);
  const before = state.card.asked === undefined ? "" : short(state.card.has || 0);
  $("points").value = state.chosen.size ? short(Math.min(sum, state.card.maximum)) : before;
  drawChosen();
}

// Whether a request is answered without other points.
function declines() {
  return Number($("points").value.trim().replace(",", ".")) === (state.card.has || 0);
}

function takeOut(place) {
  const member = state.card.members[place];
  if (!member || state.card.members.length < 2) return;
  if (state.out.has(member.student)) state.out.delete(member.student);
  else state.out.add(member.student);
  drawChosen();
}

function move(step) {
  const count = state.card.members.length;
  state.here = Math.min(Math.max(state.here + step, 0), count - 1);
  drawChosen();
  if ($("members")) $("members").children[state.here].scrollIntoView({ block: "nearest" });
}

// What is told.

async function accept() {
  const card = state.card;
  const text = $("points").value.trim().replace(",", ".");
  const given = Number(text);
  if (text === "" || Number.isNaN(given)) return say("Choose a line of the rubric (1–9), or type the points (p).", true);
  if (given < 0 || given > card.maximum) return say(`Points are between 0 and ${short(card.maximum)}.`, true);
  const comment = $("comment").value;
  if (card.asked !== undefined) {
    const same = declines();
    await call("reply", { id: card.id, points: same ? null : given, comment }, true);
    say(same ? "Declined: the points stay." : `Accepted: ${points(given)}.`);
    return next();
  }
  const staying = card.members.filter((member) => !state.out.has(member.student));
  const told = {
    id: card.id, points: given, comment, out: [...state.out],
    members: Object.fromEntries(staying.map((member) => [member.student, member.stamp])),
    criteria: [...state.chosen].sort().map((place) => card.rubric[place].label),
  };
  say(`Giving ${points(given)} to ${students(staying.length)} …`);
  const done = await call("decide", told, true);
  say(`${points(given)} for ${students(done.students)}.`);
  await next();
}

async function skip() {
  state.skipped.push(state.card.id);
  await next();
}

async function takeBack(id) {
  const done = await call("undo", { id }, true);
  say(`Taken back: ${done.item}, ${students(done.students)}.`);
  await refresh();
  if (done.group) {
    state.part = done.item;
    await show(done.group);
  } else await next();
}

function askStub(kind) {
  $("stub-title").textContent = kind === "mistake" ? "A known mistake" : "An equivalent: right, in another form";
  $("stub-hint-label").hidden = kind !== "mistake";
  $("stub-hint").value = kind === "mistake" ? $("comment").value : "";
  $("stub-name").value = "";
  $("stub-form").hidden = false;
  $("stub-done").hidden = true;
  $("stub").dataset.kind = kind;
  $("stub").showModal();
}

async function writeStub() {
  const told = { id: state.card.id, kind: $("stub").dataset.kind, name: $("stub-name").value, hint: $("stub-hint").value };
  const done = await call("stub", told, true);
  $("stub-file").textContent = `Added to ${done.file}; put it into the problem's folder:`;
  $("stub-text").textContent = done.text;
  $("stub-form").hidden = true;
  $("stub-done").hidden = false;
}

// One thing at a time; what goes wrong is said.
function guarded(action) {
  return async (...given) => {
    if (state.busy) return;
    state.busy = true;
    $("card").setAttribute("aria-busy", "true");
    try {
      await action(...given);
    } catch (error) {
      say(error.message, true);
      if (error.conflict) await next().catch(() => {});
    } finally {
      state.busy = false;
      $("card").setAttribute("aria-busy", "false");
    }
  };
}
const act = Object.fromEntries([accept, skip, takeBack, writeStub, next, refresh].map((action) => [action.name, guarded(action)]));

const keys = {
  Enter: () => act.accept(), s: () => act.skip(), u: () => act.takeBack(""), j: () => move(1), k: () => move(-1),
  x: () => takeOut(state.here), m: () => state.card.listable && askStub("mistake"),
  e: () => state.card.listable && askStub("equivalent"), p: () => $("points").select(), c: () => $("comment").focus(),
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input:not([type=checkbox]), textarea");
  if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (field) {
    if (event.key === "Escape") $("card").focus();
    else if (event.key === "Enter" && (field.id === "points" || (field.id === "comment" && !event.shiftKey))) {
      event.preventDefault();
      act.accept();
    } else if (event.key === "Enter") $("card").focus();
    return;
  }
  if (event.key === "?") return $("help").showModal();
  if (event.key === "n") return $("names").click();
  if (event.key === "Enter" && event.target.closest("button, summary, a")) return;
  if (event.key === "u" && !state.card) return act.takeBack("");
  if (!state.card) return;
  const action = /^[1-9]$/.test(event.key) ? () => choose(Number(event.key) - 1) : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

$("card").addEventListener("toggle", reach, true); // a box that was closed has no height
$("grader").addEventListener("change", () => { localStorage.grader = $("grader").value; act.refresh(); });
$("names").addEventListener("change", () => {
  if (state.card) $("card").querySelectorAll(".who").forEach((span, place) => { span.textContent = who(state.card.members[place]); });
});
$("help-button").addEventListener("click", () => $("help").showModal());
$("stub-form").addEventListener("submit", (event) => {
  if (event.submitter.value !== "write") return;
  event.preventDefault();
  act.writeStub();
});
$("stub-close").addEventListener("click", () => { $("stub").close(); $("card").focus(); });
addEventListener("pagehide", () => { fetch("/api/leave", { method: "POST", keepalive: true, headers: { "X-Tab": tab }, body: "{}" }); });

$("grader").value = new URLSearchParams(location.search).get("grader") || localStorage.grader || "";
act.next();
setInterval(() => { if (!state.busy && !document.hidden) refresh().catch((error) => say(error.message, true)); }, 4000);
