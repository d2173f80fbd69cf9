// What the server said about this page, and how the page asks the server.

import { byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { request } from "../../static/request.js";

export const page = JSON.parse(byId("page").textContent);

/**
 * Where the browser writes numbers: some know no Basque or Galician, which write them as Spanish.
 */
const locale =
  Intl.NumberFormat.supportedLocalesOf([page.language]).length > 0 ? page.language : "es";

/** A text of the page's language, its fields filled in. */
export function words(key, fields = {}) {
  const text = page.words[key] ?? key.slice(key.indexOf(".") + 1).replaceAll("_", " ");
  return text.replace(/\{(\w+)\}/g, (_, name) => fields[name] ?? "");
}

/** A moment as the clock of the page's reader shows it. */
export function clock(time) {
  return new Date(time).toLocaleTimeString(locale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
}

/**
 * How many decimals amounts of a currency have. What is no currency is rejected by the daemon; it
 * has two until then.
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
 * The answer to a POST of this session: `{status, body}`. `touch`: the one that it is made for; if
 * not given, the latest.
 */
export function post(path, body, more = {}) {
  return request(path, { token: page.token, touch: touch(), ...more, body });
}
