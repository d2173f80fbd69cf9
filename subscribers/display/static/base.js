// Where the addresses of this server begin: at the root of its host, or below the prefix under
// which a proxy serves it.

// this file is below <base>/static/, or below <base>/files-<hash>/static/
const BASE = new URL("..", import.meta.url).pathname.replace(/(\/files-\w+)?\/$/, "");

/** The address of a path of this server, such as `/floor`. */
export const at = (path) => BASE + path;

/**
 * The element of the page that has this id.
 *
 * @param {string} id
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element #${id}`);
  return element;
}
