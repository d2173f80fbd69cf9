// The page of one table.

import { byId } from "./base.js";
import { h } from "./drawing.js";
import { frame, legend, say, unheard } from "./frame.js";
import { lines } from "./meter.js";
import { address, kiosk, page, speak, stayOn, words } from "./page.js";
import { listen } from "./stream.js";

const main = byId("main");
const foot = byId("foot");
const said = byId("said");
const meters = h("ul", { class: "meter-lines" });
const jackpots = new Map();
/** The picture that the server sent last; null before the first. @type {any} */
let picture = null;
let lost = null;
let explained = "";

function draw() {
  if (!picture) return main.replaceChildren(...unheard(lost));
  document.documentElement.lang = picture.language;
  document.title = `${picture.title.text} · ${picture.table}`;
  main.replaceChildren(frame(picture, lost));
  main.querySelector("header")?.append(meters);
  drawMeters();
  const sentence = say(picture, lost);
  // the same words again are not read again
  if (said.textContent !== sentence) said.textContent = sentence;
  explain();
}

/** The meters of the jackpots that this table is linked to. */
function drawMeters() {
  meters.replaceChildren(...lines([...jackpots.values()], page.tables[0], picture?.linked, lost));
}

/** The legend, made anew only where the game is another, so that it stays open. */
function explain() {
  const key = `${picture.language} ${picture.view}`;
  if (kiosk || explained === key) return;
  explained = key;
  speak(picture.language);
  foot.replaceChildren(
    h("details", {}, h("summary", {}, words("display.legend")), legend(picture)),
    page.tables.length > 0 && h("a", { href: address("/floor") }, words("display.all_tables")),
  );
}

stayOn();
listen(
  (told) => {
    picture = told;
    draw();
  },
  (since) => {
    lost = since;
    draw();
  },
  (told) => {
    jackpots.set(told.jackpot, told);
    drawMeters();
  },
);
