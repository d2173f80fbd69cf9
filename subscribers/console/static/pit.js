// The console: what waits, the tables, and what may be done at the one that is chosen.

import { connect } from "/static/connection.js";
import { h, kept, put } from "/static/drawing.js";
import { ask, asking, gone } from "./dialog.js";
import { clock, money, page, post, words } from "./page.js";
import { forget, forgotten, remember, settled } from "./touches.js";

const places = new Map();
let chosen = location.hash.slice(1) || null;
let lost = null; // since when the server is not heard
let ends = Date.now() + page.left * 1000;
let told = 0;

const status = h("p", { class: "status", role: "status" });
const ending = h("p", { class: "ending", role: "alert", hidden: true });
const notices = h("section", { class: "notices" });
const work = h("section", { class: "work", "aria-label": words("pit.work") });
const tables = h("nav", { class: "tables", "aria-label": words("pit.tables") });
const panel = h("section", { class: "panel" });

function draw() {
  document.body.classList.toggle("lost", lost !== null);
  status.textContent = lost ? `${words("trouble.no_server")} · ${clock(lost)}` : "";
  const all = [...places.values()];
  for (const each of all.flatMap((place) => place.done)) if (!["sent", "unknown"].includes(each.how)) settled(each.number);
  const items = all.flatMap((place) => place.items.map((item) => ({ place, item })));
  items.sort((a, b) => GRAVEST.indexOf(a.item.what) - GRAVEST.indexOf(b.item.what) || a.item.since.localeCompare(b.item.since));
  put(work, [
    kept("work", items.length, (count) => h("h2", {}, words("pit.work"), count > 0 && h("span", { class: "count" }, String(count)))),
    ...(items.length ? items.map(({ place, item }) => kept(item.id, [item, place.title], () => card(place, item))) : [kept("nothing", 0, () => h("p", { class: "nothing" }, words("pit.nothing")))]),
  ]);
  put(notices, [...all.flatMap((place) => place.done.filter((each) => (each.how === "unknown" || each.receipt) && !forgotten(each.number)).map((each) => kept(`notice ${each.number}`, each, () => notice(place.name, each)))), ...old()]);
  put(tables, all.map(tile));
  const place = places.get(chosen);
  put(panel, place ? [commands(place)] : []);
  for (const each of document.querySelectorAll("[data-meter]")) each.textContent = places.get(each.dataset.meter).meter;
  gone((item) => items.some((each) => each.item.id === item) || all.some((place) => place.awards.some((each) => each.id === item)));
}

const GRAVEST = ["second", "fault", "ask", "unresolved", "warning"];

function card({ table, name }, item) {
  const place = () => places.get(table);
  return h(
    "article",
    { class: `item ${item.what}`, "data-item": item.id, "data-table": table },
    h("header", {}, h("strong", {}, name), item.round && h("span", {}, words("display.round", { round: item.round })), h("time", { datetime: item.since }, clock(item.since)), item.until && h("span", { class: "until", "data-until": item.until })),
    h("h3", {}, item.title),
    item.detail && h("p", {}, item.detail),
    item.says?.map((each) => h("p", {}, `${each.id}: `, h("strong", {}, each.text))),
    item.article && h("details", {}, h("summary", {}, words("pit.article"), ": ", h("cite", {}, item.article)), item.printed && h("blockquote", {}, item.printed)),
    item.frames?.length > 0 && h("details", {}, h("summary", {}, words("pit.frames")), h("ol", { class: "frames" }, item.frames.map((frame) => h("li", {}, h("code", {}, frame.frame), frame.device && ` · ${frame.device}`)))),
    [false, true].map((open) => h("div", { class: "answers" }, (item.answers ?? []).filter((answer) => Boolean(answer.open) === open).map((answer) => h("button", { type: "button", class: open ? "soft" : "main", "data-command": answer.command, click: () => ask(place(), answer, item.id) }, answer.text)))),
    item.others && h("p", { class: "soft" }, words("pit.others", { roles: item.others })),
  );
}

const tilesOf = new Map(); // table -> its button, and what is in it

/** The tile of a table. It stays the same element, so that a finger on it is never on one that is gone, and always says what is known. */
function tile(place) {
  const { table } = place;
  if (!tilesOf.has(table)) tilesOf.set(table, tileOf(table));
  const [button, name, title, meter, state, count] = tilesOf.get(table);
  button.className = place.trouble ? "tile before" : "tile";
  button.setAttribute("aria-pressed", String(table === chosen));
  say(name, place.name);
  say(title, place.title);
  say(meter, place.meter ?? "");
  say(state, `${place.trouble ? place.trouble.text : place.phase.text}${place.round ? ` · ${words("display.round", { round: place.round })}` : ""}`);
  say(count, place.items.length ? String(place.items.length) : "");
  return button;
}

function tileOf(table) {
  const parts = [h("strong"), h("span"), h("span"), h("span", { class: "soft" }), h("span", { class: "count" })];
  const button = h("button", { type: "button", "data-table": table, click: () => {
    chosen = table === chosen ? null : table;
    location.replace(`#${chosen ?? ""}`);
    draw();
    if (chosen && matchMedia("(max-width: 60rem)").matches) panel.scrollIntoView();
  } }, parts);
  return [button, ...parts];
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

/** The chosen table and its commands, each piece made anew only when it has changed: a button stays under the finger. */
function commands(place) {
  const piece = (name, thing, make) => kept(`${name} of ${place.table}`, thing, make);
  const groups = Map.groupBy(place.offers, (offer) => page.forms[offer.command].group);
  const body = piece("panel", null, () => h("div"));
  put(body, [
    piece("name", [place.name, place.title, place.decree, place.simulated], () => h("h2", {}, place.name, h("span", { class: "soft" }, ` ${place.title} · ${place.decree}`), place.simulated && h("span", { class: "simulated" }, words("display.simulated")))),
    piece("state", [place.status.text, place.phase.text, place.minimum && `${words("display.minimum")} ${money(place.minimum, place.currency)}`].filter(Boolean).join(" · "), (text) => h("p", { class: "soft" }, text)),
    place.meter && piece("meter", null, () => h("p", {}, `${words("carrousel.meter")}: `, h("strong", { "data-meter": place.table }))),
    place.staff.length > 0 && piece("staff", place.staff.map((each) => `${each.id}: ${each.text}`).join(" · "), (text) => h("p", { class: "soft" }, text)),
    place.trouble && piece("trouble", place.trouble, ({ text, since }) => h("p", { class: "trouble" }, text, since && ` · ${words("display.since", { time: clock(since) })}`)),
    place.awards.length > 0 && piece("awards", null, () => h("h3", {}, words("carrousel.awards"))),
    ...place.awards.map((award) => piece(award.id, [award, place.name], () => card(place, award))),
    ...[...groups].map(([group, offers]) => {
      const set = piece(`group ${group}`, null, () => h("fieldset", {}, h("legend", {}, words(`group.${group}`)), h("div", { class: "answers" })));
      put(set.lastElementChild, offers.map(({ command }) => piece(command, null, () => offered(place.table, command))));
      return set;
    }),
    place.done.length > 0 && piece("done", null, () => h("h3", {}, words("pit.done"))),
    piece("all done", place.done, (done) => h("ul", { class: "done" }, done.map((each) => h("li", { class: each.how }, h("span", {}, each.text), h("strong", {}, words(`pit.${each.how}`)), each.why && h("span", {}, each.why), each.receipt && h("span", {}, each.receipt), each.undo && h("button", { type: "button", click: () => ask(places.get(place.table), each.undo, null) }, each.undo.text))))),
  ].filter(Boolean));
  return body;
}

function offered(table, command) {
  const { text, grave } = page.forms[command];
  return h("button", { type: "button", "data-command": command, click: () => {
    const place = places.get(table);
    const { two, may_take_two } = place.offers.find((each) => each.command === command);
    ask(place, { command, text, grave, open: true, two, may_take_two }, null);
  } }, text);
}

/** A command without an answer, or the receipt of money: said until the person has read it. */
function notice(name, each) {
  return h(
    "article",
    { class: each.receipt ? "notice paid" : "notice", role: "alert", "data-number": each.number },
    h("strong", {}, name, " · ", each.text),
    h("p", {}, each.receipt ?? words("pit.unknown")),
    each.found && h("p", {}, each.found),
    h("button", { type: "button", click: () => {
      forget(each.number);
      draw();
    } }, words("pit.close")),
  );
}

/** Commands that were given before the page, or the server, began anew, and had no answer. */
const before = new Map(remember().map((each) => [each.number, each]));

function old() {
  const known = new Set([...places.values()].flatMap((place) => place.done.map((each) => each.number)));
  return [...before.values(), ...remember().filter((each) => each.lost)]
    .filter((each, index, all) => !known.has(each.number) && !forgotten(each.number) && all.findIndex((other) => other.number === each.number) === index)
    .map((each) => {
      if (!each.asked && places.has(each.table)) {
        each.asked = true;
        post("/pit/truth", { table: each.table, boot: each.boot, seq: each.seq }, page.token).then(({ body }) => {
          if (!body?.events) return;
          before.set(each.number, { ...each, found: body.events.length ? words("pit.found", { events: body.events.join(", ") }) : words("pit.found_nothing") });
          draw();
        });
      }
      const shown = before.get(each.number) ?? each;
      return kept(`notice ${each.number}`, shown, () => notice(each.table, shown));
    });
}

function take(place) {
  places.set(place.table, place);
  draw();
}

async function here() {
  if (Date.now() - told < 20_000) return;
  told = Date.now();
  const { status: code, body } = await post("/pit/here", {}, page.token);
  if (body) ends = Date.now() + body.left * 1000;
  if (code === 401) location.reload();
}

setInterval(() => {
  for (const each of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Math.round(Number(each.dataset.until) - Date.now() / 1000));
    each.textContent = words("pit.left", { seconds: left });
    if (left === 0) each.closest(".item")?.remove();
  }
  const left = Math.round((ends - Date.now()) / 1000);
  ending.hidden = left > 30;
  ending.textContent = words("pit.ending", { seconds: Math.max(0, left) });
  if (left < 0 && !asking()) loadAgain();
}, 1000);

const language = h("select", { "aria-label": words("pit.language"), change: async () => {
  await post("/pit/language", { language: language.value }, page.token);
  location.reload();
} }, Object.entries(page.languages).map(([id, name]) => h("option", { value: id, selected: id === page.language }, name)));

document.getElementById("main").replaceChildren(
  h(
    "header",
    { class: "bar" },
    h("h1", {}, words("pit.title"), " · ", page.site),
    h("span", { class: "person" }, page.name, h("span", { class: "soft" }, ` ${page.roles.map((role) => words(`role.${role}`)).join(", ")}`)),
    language,
    h("button", { type: "button", class: "out", click: async () => {
      await post("/sign-out", {}, page.token);
      location.replace("/pit");
    } }, words("pit.sign_out")),
  ),
  status,
  ending,
  h("div", { class: "columns" }, h("div", {}, notices, work), h("div", {}, tables, panel)),
);
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, here);
draw();
connect(
  () => "/pit/stream",
  { picture: take, jackpot: take },
  (since) => {
    lost = since;
    draw();
  },
  loadAgain, // signed out, or the server was away: the page of the sign-in tells which
);
window.addEventListener("novamas-touched", draw);
