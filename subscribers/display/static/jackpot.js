// The page of one jackpot. With `rotate` all jackpots take turns on it.

import { byId } from "./base.js";
import { readFromDistance } from "./distance.js";
import { unheard } from "./frame.js";
import { screen, describe } from "./meter.js";
import { address, kiosk, page, rotate, speak, stayOn, words } from "./page.js";
import { listen } from "./stream.js";
import { rolling } from "./rolling.js";
import { draw, h } from "./tree.js";

const main = byId("main");
const foot = byId("foot");
const announced = byId("said");
const pictures = new Map();
let lost = null;
let part = 0;
let paused = false;

function show() {
  const picture = pictures.get(page.jackpots[part]);
  if (!picture) return draw(main, unheard(lost));
  document.documentElement.lang = picture.language;
  document.title = picture.title;
  rolling(main, () => draw(main, screen(picture, lost)));
  const sentence = describe(picture, lost);
  // screen readers announce every change, so set only changed text
  if (announced.textContent !== sentence) announced.textContent = sentence;
  explain(picture.language);
}

function explain(language) {
  if (kiosk || foot.lang === language) return;
  foot.lang = language;
  speak(language);
  draw(
    foot,
    rotate ? pauseButton() : null,
    h("a", { href: address("/floor") }, words("display.all_tables")),
  );
}

function pauseButton() {
  return h(
    "button",
    { type: "button", click: pause },
    words(paused ? "display.go_on" : "display.pause"),
  );
}

function turn() {
  if (paused) return;
  part = (part + 1) % page.jackpots.length;
  show();
}

function pause() {
  paused = !paused;
  const language = foot.lang;
  foot.lang = "";
  explain(language);
}

stayOn();
readFromDistance();
if (rotate) {
  setInterval(turn, rotate * 1000);
  addEventListener("keydown", (event) => {
    if (event.key === " " && event.target === document.body) pause();
  });
}
listen(
  () => {},
  (since) => {
    lost = since;
    show();
  },
  (picture) => {
    pictures.set(picture.jackpot, picture);
    if (picture.jackpot === page.jackpots[part]) show();
  },
);
