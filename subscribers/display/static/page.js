// The page's data from the server (kind, tables, language, texts) and its display options.

import { at, byId } from "./base.js";
import { serverTime } from "./beats.js";

export const page = JSON.parse(byId("page").textContent);

const asked = new URLSearchParams(location.search);
/** True for a page that is laid over a video: without ground, links and pictures of the house. */
export const overlay = asked.get("overlay") === "1";
/** Seconds by which an overlay is late, as its video is; no other page may be late. */
export const delay = overlay
  ? Math.min(Math.max(Number.parseFloat(asked.get("delay") ?? "") || 0, 0), 60)
  : 0;
/** True for an unattended screen: no pointer, no links. */
export const kiosk = overlay || asked.get("kiosk") === "1";
/** Seconds for which each part of the tables is shown in turn; 0: all are shown together. */
export const rotate = Math.min(
  Math.max(Number.parseInt(asked.get("rotate") ?? "", 10) || 0, 0),
  3600,
);
/** Tables that are shown together while they take turns; 0: as many as fit. */
export const together = Math.min(
  Math.max(Number.parseInt(asked.get("tables") ?? "", 10) || 0, 0),
  24,
);

let language = page.own;

/** Set the language of `words`: that of the picture which is drawn next. */
export function speak(chosen) {
  language = chosen in page.words ? chosen : page.own;
}

/** The language of `words`. */
export function spoken() {
  return language;
}

/** A text with its fields filled in: `words("display.round", {round: 7})`. */
export function words(key, fields = {}) {
  const text = page.words[language][key] ?? key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");
}

/** The second language of a picture, or null: that of the address, or of the decree. */
export function secondLanguage(picture) {
  const languages = [asked.get("also"), page.house.also, ...Object.keys(picture.titles ?? {})];
  return languages.find((each) => each && each !== picture.language && each in page.words) ?? null;
}

/** A text in the picture's language and then, unless it is the same, in its second one. */
export function inBoth(key, picture) {
  const languages = [picture.language, secondLanguage(picture)];
  const texts = languages.map((each) => ({ text: page.words[each]?.[key], language: each }));
  return texts.filter(({ text }, index) => text && (index === 0 || text !== texts[0].text));
}

/**
 * The locale for numbers. Some browsers lack Basque and Galician, whose numbers are written as in
 * Spanish.
 */
function locale() {
  return Intl.NumberFormat.supportedLocalesOf([language]).length > 0 ? language : "es";
}

/** A time of day on this machine's clock. */
export function clock(time) {
  return new Date(time).toLocaleTimeString(locale(), {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });
}

/** The date in this language; empty if it is today by the server's clock. */
export function day(time) {
  const date = new Date(time);
  const now = serverTime();
  if (now !== null && date.toDateString() === new Date(now).toDateString()) return "";
  const parts = [
    String(date.getFullYear()),
    String(date.getMonth() + 1).padStart(2, "0"),
    String(date.getDate()).padStart(2, "0"),
  ];
  return language === "en"
    ? parts.join("-")
    : (language === "eu" ? parts : parts.reverse()).join("/");
}

/** An amount in minor units of a currency. */
export function money(amount, currency) {
  const digits =
    new Intl.NumberFormat(locale(), { style: "currency", currency }).resolvedOptions()
      .maximumFractionDigits ?? 2;
  const whole = amount % 10 ** digits === 0;
  return new Intl.NumberFormat(locale(), {
    style: "currency",
    currency,
    minimumFractionDigits: whole ? 0 : digits,
  }).format(amount / 10 ** digits);
}

/** A percentage: `48,6 %`. */
export function percent(value) {
  return new Intl.NumberFormat(locale(), { style: "percent", minimumFractionDigits: 1 }).format(
    value / 100,
  );
}

/** The address of another page of this server, in this page's language. */
export function address(path) {
  return page.language ? `${at(path)}?lang=${page.language}` : at(path);
}

/** Keep an unattended screen on, where the browser allows it. */
export function stayOn() {
  if (!kiosk) return;
  document.body.classList.add("kiosk");
  document.body.classList.toggle("overlay", overlay);
  const ask = () =>
    document.visibilityState === "visible" && navigator.wakeLock?.request("screen").catch(() => {});
  document.addEventListener("visibilitychange", ask);
  ask();
}
