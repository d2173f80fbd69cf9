// Checks the data of a page, in a worker: nothing of it goes anywhere. Everything in an entry is
// data, and none of it is run. What it finds is reported by the key of a text and its fields.
"use strict";

/* global unpacked */
{
  const MAX_BLOCK_BYTES = 2 ** 26;
  // as controller/proof/signatures.py allows: two clocks, and a second signature that was waited for
  const CLOCK_SECONDS = 10;
  const MAX_DELAY_SECONDS = 125;
  const MAX_CALLS_BYTES = 2 ** 25;
  const MAX_LISTED = 20;
  const DIGESTS_AT_ONCE = 512;
  const PROGRESS_ENTRIES = 2000;
  const RECENT_CHARACTERS = 65536;
  const HASH_BYTES = 32;
  const HEAD_BYTES = 45;
  const KINDS = new Set(["boot", "state", "bytes", "input", "event"]);
  const DECISIVE = new Set(["round.result", "round.void", "round.unresolved", "result.corrected"]);
  const INTEGER = /^(0|-?[1-9][0-9]{0,18})$/;
  const LINE_END = /(?:\\[rn])+/;
  const PEOPLE_DOMAIN = "novamas people 1\n";
  const encoder = new TextEncoder();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

  /** @type {any} */
  let header = null;
  /** @type {any[]} */
  let points = [];
  /** @type {any[]} */
  const chains = [];
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const blocks = [];
  /** @type {any[]} */
  const problems = [];
  let more = 0;
  let done = 0;
  let reported = 0;
  let total = 0;
  let canSign = true;
  const counts = { entries: 0, events: 0, readings: 0, commands: 0, signed: 0, sealed: 0 };
  const evidence = { frames: 0, found: 0 };
  /** @type {Map<string, Map<string, Map<string, any>>>} */
  const days = new Map();
  /** @type {any[]} */
  const others = [];
  const recent = new Map();
  const imported = new Map();
  const executed = new Set();
  const marked = new Set();
  /** @type {Map<number, any>} */
  const located = new Map();
  let first = "";
  let last = "";

  function wrong(key, position, fields = {}) {
    marked.add(position);
    if (problems.length < MAX_LISTED) problems.push({ key, position, fields });
    else more += 1;
  }

  function fromBase64(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
    return bytes;
  }

  function fromBase64Url(text) {
    return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  }

  function fromHex(text) {
    if (typeof text !== "string" || text.length % 2 || !/^[0-9a-f]*$/.test(text)) {
      throw new Error("not hexadecimal");
    }
    const bytes = new Uint8Array(text.length / 2);
    for (let index = 0; index < bytes.length; index += 1) {
      bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
    }
    return bytes;
  }

  function toHex(bytes) {
    let text = "";
    for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
    return text;
  }

  function same(one, other) {
    if (one.length !== other.length) return false;
    for (let index = 0; index < one.length; index += 1) {
      if (one[index] !== other[index]) return false;
    }
    return true;
  }

  async function digest(bytes) {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  }

  /** Unpack a block; throw if it is not exactly one, or too long. */
  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const reader = stream.getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { value, done: ended } = await reader.read();
      if (ended) break;
      size += value.length;
      if (size > MAX_BLOCK_BYTES) throw new Error("a block is too large");
      parts.push(value);
    }
    const whole = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** Return the object in a body; null if it has none. */
  function object(text) {
    try {
      const found = JSON.parse(text);
      return found !== null && typeof found === "object" && !Array.isArray(found) ? found : null;
    } catch {
      return null;
    }
  }

  /** Parse the record there; throw if it is not one. `before`: the hash of the record before. */
  function record(bytes, at, before) {
    if (bytes.length - at < HEAD_BYTES) throw new Error("an entry is cut off");
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEAD_BYTES);
    const flags = view.getUint8(0);
    const length = view.getUint32(1);
    const position = Number(view.getBigUint64(5));
    const hash = bytes.subarray(at + 13, at + HEAD_BYTES);
    let start = at + HEAD_BYTES;
    let previous = before;
    if (flags === 1) {
      previous = bytes.subarray(start, start + HASH_BYTES);
      start += HASH_BYTES;
    }
    const end = start + length;
    if (flags > 1 || end > bytes.length || previous.length < HASH_BYTES) {
      throw new Error("an entry is cut off");
    }
    let body = start;
    for (let count = 0; count < 6; count += 1) {
      const found = bytes.indexOf(10, body);
      if (found < 0 || found >= end) throw new Error("an entry has no columns");
      body = found + 1;
    }
    const columns = strict.decode(bytes.subarray(start, body)).split("\n");
    const [table, boot, kind, seq, time, mono] = columns;
    if (!KINDS.has(kind) || !INTEGER.test(seq) || !INTEGER.test(mono)) {
      throw new Error("a column of an entry holds what no journal does");
    }
    if (!Number.isSafeInteger(position)) throw new Error("an entry has no position");
    const parts = { text: bytes.subarray(start, end), body: bytes.subarray(body, end) };
    return { position, table, boot, kind, time, hash, previous, ...parts, at, end };
  }

  async function checkHash(entry) {
    const covered = new Uint8Array(HASH_BYTES + entry.text.length);
    covered.set(entry.previous);
    covered.set(entry.text, HASH_BYTES);
    return same(await digest(covered), entry.hash);
  }

  /** Return the calls in an entry of bytes, as text; null if it has none that can be read. */
  function callsOf(entry) {
    const body = object(lenient.decode(entry.body));
    if (typeof body?.packed !== "string") return body;
    try {
      const listed = unpacked(fromBase64(body.packed), MAX_CALLS_BYTES);
      return { device: body.device, calls: JSON.parse(strict.decode(listed)) };
    } catch {
      return null;
    }
  }

  // People and their signatures

  async function isSigned(key, signature, message) {
    const name = toHex(key);
    try {
      if (!imported.has(name)) {
        imported.set(name, await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]));
      }
      return await crypto.subtle.verify("Ed25519", imported.get(name), signature, message);
    } catch (error) {
      if (error instanceof DOMException && error.name === "NotSupportedError") canSign = false;
      return false;
    }
  }

  /** Return the key id (RFC 7638) of a public key. */
  async function thumbprint(x) {
    const canonical = encoder.encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`);
    const name = btoa(String.fromCharCode(...(await digest(canonical))));
    return name.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  /** Return the owners of the keys that a boot entry puts in force; null if there are none. */
  async function people(setup, position) {
    if (typeof setup?.file !== "string" || typeof setup.key !== "string") return null;
    const owners = new Map();
    try {
      const lines = setup.file.split("\n");
      const signature = object(lines.at(-2) ?? "");
      const text = encoder.encode(PEOPLE_DOMAIN + setup.file.slice(0, -lines.at(-2).length - 1));
      const key = fromBase64Url(setup.key);
      const holds = await isSigned(key, fromHex(signature?.signature), text);
      if (!canSign) return owners;
      if (!holds || signature?.key !== toHex(key)) throw new Error("signature");
      for (const line of lines.slice(1, -2)) {
        const person = object(line);
        for (const { x, revoked } of person?.keys ?? []) {
          const { id, name, roles } = person ?? {};
          const owner = { id, name, roles, revoked: person?.revoked ?? revoked };
          owners.set(await thumbprint(x), { ...owner, key: fromBase64Url(x) });
        }
      }
      return owners;
    } catch {
      wrong("problem.people", position);
      return null;
    }
  }

  /** Return whether a person signed this command, then and for this table. */
  async function isSignedBy(signature, entry, command, owners) {
    try {
      const parts = signature.token.split(".");
      const owner = owners.get(object(lenient.decode(fromBase64Url(parts[0])))?.kid);
      const claims = object(lenient.decode(fromBase64Url(parts[1])));
      const message = encoder.encode(`${parts[0]}.${parts[1]}`);
      return (
        parts.length === 3 &&
        owner !== undefined &&
        claims !== null &&
        isOf(claims, owner, signature) &&
        isIt(claims, entry, command) &&
        (await isSigned(owner.key, fromBase64Url(parts[2]), message))
      );
    } catch {
      return false;
    }
  }

  /** Return whether this person signed, in a role of the person's own, with a key in force. */
  function isOf(claims, owner, signature) {
    return (
      owner.revoked === undefined &&
      owner.roles.includes(claims.role) &&
      claims.iss === owner.id &&
      signature.id === owner.id &&
      signature.name === owner.name &&
      signature.role === claims.role
    );
  }

  /** Return whether it is this command that was signed, and that it was signed then. */
  function isIt(claims, entry, command) {
    const time = Date.parse(entry.time) / 1000;
    const refused = command.type === "command.refused";
    const fields = refused ? [] : Object.entries(claims.fields ?? {});
    return (
      claims.command === (refused ? command.command : command.type) &&
      String(claims.aud).endsWith(`/${entry.table}`) &&
      claims.iat <= time + CLOCK_SECONDS &&
      claims.exp + CLOCK_SECONDS + MAX_DELAY_SECONDS > time &&
      fields.every(([name, value]) =>
        name in command ? isSame(value, command[name]) : isNothing(value),
      )
    );
  }

  /** Return whether two values of JSON are the same. */
  function isSame(one, other) {
    if (one === null || typeof one !== "object" || other === null || typeof other !== "object") {
      return one === other;
    }
    const names = Object.keys(one).filter((name) => name in other || !isNothing(one[name]));
    return names.every((name) => isSame(one[name], other[name]));
  }

  /** Return whether a value may be left out where it is stored. */
  function isNothing(value) {
    return !value || (Array.isArray(value) && value.length === 0);
  }

  async function checkCommand(entry, command, owners) {
    const [named] = command.signed;
    if (owners === null) {
      wrong("problem.no_people", entry.position, { name: String(named?.name) });
      return;
    }
    for (const signature of command.signed) {
      const holds = await isSignedBy(signature, entry, command, owners);
      if (!canSign) return;
      if (!holds) {
        wrong("problem.signature", entry.position, { name: String(signature?.name) });
        return;
      }
    }
    if (command.by !== named.name || command.role !== named.role) {
      wrong("problem.signature", entry.position, { name: command.by });
      return;
    }
    const { token } = named;
    if (command.type !== "command.refused" && !("unsent" in command)) {
      if (executed.has(token)) wrong("problem.repeated", entry.position, { name: command.by });
      executed.add(token);
    }
    counts.signed += 1;
  }

  // What is shown of the entries

  /** Add an entry to the present step of its table, or begin another. */
  function file(entry, place, chain) {
    const step = chain.step;
    const joins =
      step !== null &&
      step.table === entry.table &&
      step.boot === entry.boot &&
      (entry.kind === "event" ||
        (entry.kind === "input" && step.kind === "bytes" && step.time === entry.time));
    if (!joins) {
      close(chain);
      const { table, boot } = entry;
      chain.step = { table, boot, places: [], events: [], positions: [] };
    }
    chain.step.kind = entry.kind;
    chain.step.time = entry.time;
    chain.step.places.push(place);
    chain.step.positions.push(entry.position);
  }

  /** File a finished step, which is what a table did with one input, under its round. */
  function close(chain) {
    const step = chain.step;
    chain.step = null;
    if (step === null) return;
    if (step.table === "") {
      others.push(...step.places);
      return;
    }
    let at = chain.current.get(step.table) ?? { session: 0, round: 0 };
    for (const event of step.events) {
      if (Number.isInteger(event.session) && event.session > 0) {
        at = { session: event.session, round: Number.isInteger(event.round) ? event.round : 0 };
      }
    }
    chain.current.set(step.table, at);
    const day = step.time.slice(0, 10);
    const tables = days.get(day) ?? new Map();
    days.set(day, tables);
    const rounds = tables.get(step.table) ?? new Map();
    tables.set(step.table, rounds);
    const name = `${at.session} ${at.round}`;
    const round = rounds.get(name) ?? { ...at, time: step.time, notes: [], places: [] };
    rounds.set(name, round);
    round.places.push(...step.places);
    for (const position of step.positions) {
      if (!marked.has(position)) continue;
      round.flawed = true;
      located.set(position, { table: step.table, ...at });
    }
    for (const event of step.events) {
      round.game ??= event.game;
      round.decree ??= event.decree;
      if (DECISIVE.has(event.type)) {
        round.decided = event;
        round.time = event.time;
      }
      if (event.type === "irregularity") round.notes.push(event);
    }
  }

  function onBytes(entry) {
    const body = callsOf(entry);
    if (!Array.isArray(body?.calls)) return;
    const name = `${entry.table} ${body.device}`;
    let text = recent.get(name) ?? "";
    for (const call of body.calls) {
      if (Array.isArray(call) && typeof call[2] === "string") text += call[2];
    }
    recent.set(name, text.slice(-RECENT_CHARACTERS));
  }

  /**
   * Return whether a device sent this frame. One of several lines that confirm one another lacks
   * what came between them, and its lines are joined by CR LF: each must be there, in this order.
   */
  function isAmong(frame, sent) {
    if (sent.includes(frame)) return true;
    const lines = frame.split("\\r\\n");
    if (lines.length < 2) return false;
    let left = sent.split(LINE_END);
    for (const line of lines.reverse()) {
      const at = left.lastIndexOf(line);
      if (at < 0) return false;
      left = left.slice(0, at);
    }
    return true;
  }

  function onEvent(entry, chain) {
    counts.events += 1;
    const event = object(lenient.decode(entry.body));
    if (event === null) return;
    for (const frame of Array.isArray(event.frames) ? event.frames : []) {
      evidence.frames += 1;
      const known = recent.get(`${entry.table} ${frame?.device}`) ?? "";
      evidence.found += Number(typeof frame?.frame === "string" && isAmong(frame.frame, known));
    }
    const { type, session, round, game, decree } = event;
    const shown = { type, session, round, game, decree, time: entry.time };
    if (DECISIVE.has(type) || type === "irregularity") {
      for (const name of ["outcome", "was", "reason", "why", "what", "law", "article"]) {
        if (name in event) shown[name] = event[name];
      }
    }
    chain.step.events.push(shown);
  }

  async function onInput(entry, chain) {
    const text = lenient.decode(entry.body);
    if (text.startsWith('{"sealed":')) {
      counts.readings += 1;
      counts.sealed += 1;
      return;
    }
    const command = text.includes('"role":') ? object(text) : null;
    if (typeof command?.role !== "string" || typeof command.by !== "string") {
      counts.readings += 1;
      return;
    }
    counts.commands += 1;
    if (Array.isArray(command.signed) && command.signed.length > 0) {
      await checkCommand(entry, command, chain.owners);
    }
  }

  async function onBoot(entry, chain) {
    const boot = object(lenient.decode(entry.body));
    if (boot === null) return;
    if (typeof boot.key === "string") chain.keys.add(boot.key);
    chain.owners = await people(boot.people, entry.position);
  }

  // The chain

  async function begin(chain, index) {
    const made = {
      ...chain,
      index,
      hash: fromHex(chain.previous),
      expected: chain.after + 1,
      sound: chain.after,
      flawed: false,
      left: chain.blocks,
      found: new Map([[chain.after, chain.previous]]),
      wanted: new Set(),
      keys: new Set(),
      owners: null,
      current: new Map(),
      step: null,
    };
    for (const point of points) {
      if (point.journal === chain.journal) made.wanted.add(point.position);
    }
    if (made.hash.length !== HASH_BYTES) throw new Error("the first hash is damaged");
    const genesis = await digest(encoder.encode(`novamas journal 2\n${chain.journal}`));
    if (chain.after === 0 && !same(genesis, made.hash)) wrong("problem.genesis", 1);
    if (chain.setup) await onBoot(record(fromBase64(chain.setup), 0, new Uint8Array()), made);
    return made;
  }

  function flaw(chain) {
    chain.flawed = true;
    chain.sound = Math.min(chain.sound, chain.expected - 1);
  }

  /** Check the entries of a block. */
  async function check(bytes, number, chain) {
    let at = 0;
    while (at < bytes.length) {
      const entries = [];
      const hashes = [];
      while (at < bytes.length && entries.length < DIGESTS_AT_ONCE) {
        const entry = record(bytes, at, entries.at(-1)?.hash ?? chain.hash);
        at = entry.end;
        entries.push(entry);
        hashes.push(checkHash(entry));
      }
      const holds = await Promise.all(hashes);
      for (const [index, entry] of entries.entries()) {
        await add(entry, holds[index], number, chain);
      }
    }
  }

  /** Add the next entry of a chain. `holds`: its hash does. */
  async function add(entry, holds, number, chain) {
    const { position, kind, table, time } = entry;
    const fields = { position, kind, table, time };
    if (position > chain.expected) {
      const missing = { first: chain.expected, last: position - 1 };
      wrong("problem.missing", chain.expected, missing);
      flaw(chain);
    } else if (position < chain.expected) {
      wrong("problem.twice", position, fields);
      flaw(chain);
    } else if (!same(entry.previous, chain.hash)) {
      wrong("problem.follows", position, fields);
      flaw(chain);
    } else if (!holds) {
      wrong("problem.hash", position, fields);
      flaw(chain);
    }
    chain.hash = entry.hash;
    chain.expected = position + 1;
    if (!chain.flawed) chain.sound = position;
    if (chain.wanted.has(position)) chain.found.set(position, toHex(entry.hash));
    counts.entries += 1;
    first ||= time;
    last = time;
    const shown = position <= chain.end;
    if (shown) file(entry, { block: number, at: entry.at }, chain);
    if (kind === "boot") await onBoot(entry, chain);
    else if (kind === "bytes") onBytes(entry);
    else if (kind === "input") await onInput(entry, chain);
    else if (kind === "event" && shown) onEvent(entry, chain);
    done += 1;
    if (done - reported >= PROGRESS_ENTRIES) {
      reported = done;
      postMessage({ kind: "progress", done, total });
    }
  }

  /** Check the signatures of a chain's checkpoints. */
  async function finish(chain) {
    close(chain);
    if (chain.expected - 1 !== chain.last) {
      wrong("problem.ends", chain.expected, { last: chain.last, found: chain.expected - 1 });
      flaw(chain);
    }
    for (const point of points.filter((each) => each.journal === chain.journal)) {
      point.signed = Boolean(point.key && point.signature);
      if (!point.signed) continue;
      const named = [point.journal, point.position, point.hash, point.time, point.boot, point.key];
      const lines = ["novamas checkpoint 1", ...named].map((part) => `${part}\n`).join("");
      try {
        const [key, signature] = [fromHex(point.key), fromHex(point.signature)];
        point.holds = await isSigned(key, signature, encoder.encode(lines));
      } catch {
        point.holds = false;
      }
    }
  }

  /** Judge the checkpoints, by the key given or by those that the journal names. */
  function conclude(given) {
    const found = [...problems];
    const covered = { entries: 0, checkpoints: 0, unsigned: 0, through: 0 };
    for (const chain of chains) {
      const keys = given ? new Set([given]) : chain.keys;
      let signed = chain.after;
      for (const point of points.filter((each) => each.journal === chain.journal)) {
        const { position, time } = point;
        const here = chain.found.get(position);
        const fields = { position, time, key: point.key ?? "", last: chain.last };
        const proves = point.signed && keys.has(point.key) && point.holds;
        if (!point.signed) covered.unsigned += 1;
        else if (canSign && keys.size > 0 && !proves) {
          const key = keys.has(point.key) ? "problem.seal" : "problem.other_key";
          found.push({ key, position, fields });
        }
        if (position > chain.last) found.push({ key: "problem.cut", position, fields });
        else if (here !== undefined && here !== point.hash) {
          found.push({ key: "problem.rewritten", position, fields });
        } else if (proves && here === point.hash && position <= chain.sound) {
          signed = Math.max(signed, position);
          covered.checkpoints += 1;
        }
      }
      covered.entries += signed - chain.after;
      covered.through = Math.max(covered.through, signed);
    }
    const keys = new Set(chains.flatMap((chain) => [...chain.keys]));
    postMessage({
      kind: "verdict",
      problems: found.slice(0, MAX_LISTED),
      more: more + Math.max(0, found.length - MAX_LISTED),
      counts,
      covered,
      evidence,
      canSign,
      keys: [...keys],
      given,
      first,
      last,
      others: others.length,
      located: [...located],
    });
  }

  function overview() {
    const shown = [];
    for (const [day, tables] of days) {
      const named = [];
      for (const [table, rounds] of tables) {
        const all = [...rounds.values()];
        const played = all.filter((round) => round.round > 0).length;
        const notes = all.reduce((sum, round) => sum + round.notes.length, 0);
        named.push({ table, rounds: played, notes });
      }
      shown.push({ day, tables: named });
    }
    postMessage({ kind: "overview", days: shown });
  }

  // What the page asks for

  function sendRounds({ day, table }) {
    const rounds = days.get(day)?.get(table) ?? new Map();
    const list = [...rounds].map(([name, round]) => ({ ...round, name, places: undefined }));
    postMessage({ kind: "rounds", day, table, rounds: list });
  }

  /** Send the entries of a round; without a day, those of the daemon. */
  async function sendEntries({ day, table, name }) {
    const places = day ? (days.get(day)?.get(table)?.get(name)?.places ?? []) : others;
    const opened = new Map();
    const entries = [];
    for (const place of places) {
      if (!opened.has(place.block)) opened.set(place.block, await inflate(blocks[place.block]));
      const entry = record(opened.get(place.block), place.at, new Uint8Array(HASH_BYTES));
      const { position, kind, time } = entry;
      const hash = toHex(entry.hash);
      const packed = kind === "bytes" ? callsOf(entry) : null;
      const body = packed === null ? lenient.decode(entry.body) : JSON.stringify(packed);
      entries.push({ position, kind, time, hash, body });
    }
    postMessage({ kind: "entries", day, table, name, entries });
  }

  /** Return a checkpoint; throw if it is not one of a chain of this page. */
  function checkpoint(line) {
    const point = JSON.parse(line);
    const { journal, boot, time, position, hash, key, signature } = point ?? {};
    const texts = [journal, boot, time, hash, key ?? "", signature ?? ""];
    const known = header.chains.some((chain) => chain.journal === journal);
    if (
      !known ||
      !Number.isSafeInteger(position) ||
      texts.some((each) => typeof each !== "string")
    ) {
      throw new Error("a checkpoint is damaged");
    }
    return point;
  }

  async function onHeader(message) {
    header = message.header;
    for (const found of [header.audit, header.witness]) {
      for (const { position } of found?.against ?? []) marked.add(position);
    }
    const lines = lenient.decode(await inflate(fromBase64(message.checkpoints))).split("\n");
    points = lines.filter((line) => line !== "").map(checkpoint);
    total = header.chains.reduce((sum, chain) => sum + chain.last - chain.after, 0);
  }

  /** Return the chain of the next block. */
  async function nextChain() {
    for (;;) {
      const chain = chains.at(-1);
      if (chain !== undefined && chain.left > 0) return chain;
      if (chain !== undefined) await finish(chain);
      if (chains.length === header.chains.length) throw new Error("there are too many blocks");
      chains.push(await begin(header.chains[chains.length], chains.length));
    }
  }

  async function onBlock(message) {
    const chain = await nextChain();
    chain.left -= 1;
    const packed = fromBase64(message.data);
    blocks.push(packed);
    await check(await inflate(packed), blocks.length - 1, chain);
  }

  async function onEnd() {
    const chain = chains.at(-1);
    if (chain !== undefined) await finish(chain);
    if (chains.length !== header.chains.length || chains.some((each) => each.left !== 0)) {
      throw new Error("blocks are missing");
    }
    postMessage({ kind: "progress", done: total, total });
    conclude("");
    overview();
  }

  const ANSWERS = {
    header: onHeader,
    block: onBlock,
    end: onEnd,
    trust: (message) => conclude(message.key),
    rounds: sendRounds,
    entries: sendEntries,
  };
  let turn = Promise.resolve();
  let failed = false;
  onmessage = ({ data }) => {
    turn = turn.then(async () => {
      if (failed) return;
      try {
        await ANSWERS[data.kind](data);
      } catch (error) {
        failed = true;
        const able = typeof DecompressionStream === "function" && crypto.subtle !== undefined;
        postMessage(able ? { kind: "damaged", why: String(error), done } : { kind: "unable" });
      }
    });
  };
}
