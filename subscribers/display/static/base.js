// Where the addresses of this server begin: at the root of its host, or below the prefix under which a proxy serves it.

const BASE = new URL("..", import.meta.url).pathname.slice(0, -1); // this file is below <base>/static/

/** The address of a path of this server, such as `/floor`. */
export const at = (path) => BASE + path;
