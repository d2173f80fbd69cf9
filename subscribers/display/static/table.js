// The page of one table.

import { byId } from "./base.js";
import { h } from "./drawing.js";
import { frame, legend, describe, unheard } from "./frame.js";
import { lines } from "./meter.js";
import { address, kiosk, page, speak, stayOn, words } from "./page.js";
import { listen } from "./stream.js";

const main = byId("main");
const foot = byId("foot");
const announced = byId("said");
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
  const sentence = describe(picture, lost);
  // screen readers announce every change, so set only changed text
  if (announced.textContent !== sentence) announced.textContent = sentence;
  explain();
}

/** The meters of the jackpots that this table is linked to. */
function drawMeters() {
  meters.replaceChildren(...lines([...jackpots.values()], page.tables[0], picture?.linked, lost));
}

/** Draw the legend, only when the game has changed, so that it stays open. */
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
  (update) => {
    picture = update;
    draw();
  },
  (since) => {
    lost = since;
    draw();
  },
  (update) => {
    jackpots.set(update.jackpot, update);
    drawMeters();
  },
);
