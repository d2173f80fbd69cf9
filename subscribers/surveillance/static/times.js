// Times as people here write them: 24 hours, on this machine's clock, the date in the order of the
// page's language. The browser's own fields follow the browser's language instead.

import { page } from "./asking.js";

const WRITTEN =
  /^(?:(\d{1,4})[/.-](\d{1,2})(?:[/.-](\d{1,4}))?(?:[ T]+|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2}))?)?$/;
const DAY_MS = 86_400_000;
const two = (number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");
const yearFirst = page.language === "eu";

/** `27/11/2026`; in Basque `2026/11/27`. */
export function dateText(time) {
  const at = new Date(time);
  const parts = [two(at.getDate()), two(at.getMonth() + 1), String(at.getFullYear())];
  return (yearFirst ? parts.reverse() : parts).join("/");
}

/** The date without its year. */
export function dayText(time) {
  const at = new Date(time);
  const parts = [two(at.getDate()), two(at.getMonth() + 1)];
  return (yearFirst ? parts.reverse() : parts).join("/");
}

/** `18:22:14` */
export function clockText(time, seconds = true) {
  const at = new Date(time);
  const text = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return seconds ? `${text}:${two(at.getSeconds())}` : text;
}

/** The offset of this machine's clock from UTC: `+01:00`. */
export function zoneText(time) {
  const offset = -new Date(time).getTimezoneOffset();
  return `${offset < 0 ? "−" : "+"}${two(offset / 60)}:${two(offset % 60)}`;
}

/**
 * What a person wrote, as milliseconds since 1970; null if it is no time. A clock alone is the last
 * time that it was; a date alone is its midnight.
 */
export function writtenTime(text, now) {
  const found = WRITTEN.exec(text.trim());
  if (!found || !text.trim()) return null;
  const [first, second, third, ...clock] = found.slice(1).map((part) => Number(part ?? 0));
  const today = new Date(now);
  if (!found[1]) {
    const at = made(today.getFullYear(), today.getMonth() + 1, today.getDate(), clock);
    return at !== null && at > now ? at - DAY_MS : at;
  }
  if (found[1].length === 4) return made(first, second, third, clock);
  const year = found[3] ? third : today.getFullYear();
  return yearFirst ? made(year, first, second, clock) : made(year, second, first, clock);
}

/** A moment of these parts, or null where there is none: 31/02. */
function made(year, month, day, clock) {
  const [hours, minutes, seconds] = clock;
  const at = new Date(year, month - 1, day, hours, minutes, seconds);
  const same = at.getMonth() === month - 1 && at.getDate() === day && year >= 1000;
  return same && hours < 24 && minutes < 60 && seconds < 60 ? at.getTime() : null;
}

/** A time with its offset from UTC, for what is compared with a recording. */
export function moment(time, day = false) {
  const at = new Date(time);
  const fraction = String(at.getMilliseconds()).padStart(3, "0");
  return `${day ? `${dateText(at)} ` : ""}${clockText(at)}.${fraction} ${zoneText(at)}`;
}
