// The page's data from the server, and its requests to the server.

import { byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { request } from "../../static/request.js";

export const page = JSON.parse(byId("page").textContent);

/**
 * The locale for numbers. Some browsers lack Basque and Galician, whose numbers are written as in
 * Spanish.
 */
const locale =
  Intl.NumberFormat.supportedLocalesOf([page.language]).length > 0 ? page.language : "es";

/** A text in the page's language, with its fields filled in. */
export function words(key, fields = {}) {
  const text = page.words[key] ?? key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");
}

/** A time of day on this machine's clock. */
export function clock(time) {
  return new Date(time).toLocaleTimeString(locale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
}

/**
 * The number of decimals of a currency; 2 for an unknown one, which the daemon rejects.
 */
export function digits(currency) {
  try {
    return (
      new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
        .maximumFractionDigits ?? 2
    );
  } catch {
    return 2;
  }
}

/** An amount in minor units as people write it. */
export function money(amount, currency) {
  return new Intl.NumberFormat(locale, { style: "currency", currency }).format(
    amount / 10 ** digits(currency),
  );
}

/**
 * Send a POST of this session; return `{status, body}`. `touch` defaults to the latest.
 */
export function post(path, body, more = {}) {
  return request(path, { token: page.token, touch: touch(), ...more, body });
}
