// The page of one jackpot. With `rotate` all jackpots take turns on it.

import { byId } from "./base.js";
import { h } from "./drawing.js";
import { unheard } from "./frame.js";
import { Changes, meter, describe } from "./meter.js";
import { address, kiosk, page, rotate, speak, stayOn, words } from "./page.js";
import { listen } from "./stream.js";

const main = byId("main");
const foot = byId("foot");
const announced = byId("said");
const pictures = new Map();
const changes = new Changes();
let lost = null;
let part = 0;
let paused = false;

function draw() {
  const picture = pictures.get(page.jackpots[part]);
  if (!picture) return main.replaceChildren(...unheard(lost));
  document.documentElement.lang = picture.language;
  document.title = picture.title;
  main.replaceChildren(meter(picture, lost, changes.previous(picture)));
  const sentence = describe(picture, lost);
  // screen readers announce every change, so set only changed text
  if (announced.textContent !== sentence) announced.textContent = sentence;
  explain(picture.language);
}

function explain(language) {
  if (kiosk || foot.lang === language) return;
  foot.lang = language;
  speak(language);
  foot.replaceChildren(
    ...(rotate
      ? [
          h(
            "button",
            { type: "button", click: pause },
            words(paused ? "display.go_on" : "display.pause"),
          ),
        ]
      : []),
    h("a", { href: address("/floor") }, words("display.all_tables")),
  );
}

function turn() {
  if (paused) return;
  part = (part + 1) % page.jackpots.length;
  draw();
}

function pause() {
  paused = !paused;
  speak(foot.lang);
  foot.querySelector("button")?.replaceChildren(words(paused ? "display.go_on" : "display.pause"));
}

stayOn();
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
    draw();
  },
  (picture) => {
    pictures.set(picture.jackpot, picture);
    if (picture.jackpot === page.jackpots[part]) draw();
  },
);
