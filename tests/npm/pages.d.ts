/** Defined by subscribers/display/static/start.js, which every page runs before its modules. */
declare function loadAgain(): void;
