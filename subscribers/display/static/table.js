// The page of one table.

import { byId } from "./base.js";
import { Choreography } from "./choreography.js";
import { readFromDistance } from "./distance.js";
import { everyPicture } from "./house.js";
import { frame, legend, describe, troubleOf, unheard } from "./frame.js";
import { lines } from "./meter.js";
import { address, kiosk, page, speak, stayOn, words } from "./page.js";
import { listen } from "./stream.js";
import { rolling } from "./rolling.js";
import { draw, h } from "./tree.js";

const main = byId("main");
const foot = byId("foot");
const announced = byId("said");
const jackpots = new Map();
/** The picture that the server sent last; null before the first. @type {any} */
let picture = null;
let lost = null;
let explained = "";
const choreography = new Choreography(main);
/** The picture as it was drawn, or null. @type {any} */
let drawn = null;

function show() {
  if (!picture) return draw(main, unheard(lost));
  document.documentElement.lang = picture.language;
  document.title = `${picture.title.text} · ${picture.table}`;
  const meters = lines([...jackpots.values()], page.tables[0], picture.linked, lost);
  const current = { ...picture, trouble: troubleOf(picture, lost) };
  choreography.show(drawn, current, () =>
    rolling(main, () => draw(main, frame(picture, lost, false, meters))),
  );
  drawn = current;
  const sentence = describe(picture, lost);
  // screen readers announce every change, so set only changed text
  if (announced.textContent !== sentence) announced.textContent = sentence;
  explain();
}

/** Draw the legend, only when the game has changed, so that it stays open. */
function explain() {
  const key = `${picture.language} ${picture.view}`;
  if (kiosk || explained === key) return;
  explained = key;
  speak(picture.language);
  draw(
    foot,
    h("details", {}, h("summary", {}, words("display.legend")), legend(picture)),
    page.tables.length > 0 && h("a", { href: address("/floor") }, words("display.all_tables")),
  );
}

stayOn();
readFromDistance();
everyPicture(show);
listen(
  (update) => {
    picture = update;
    show();
  },
  (since) => {
    lost = since;
    show();
  },
  (update) => {
    jackpots.set(update.jackpot, update);
    show();
  },
  (motion) => choreography.onMotion(motion),
);
