// Print every event of a site once and in order: node subscriber.mjs --site casino-mayor. Needs MQTT.js: npm install mqtt.
//
// What a subscriber must do, as docs/integrator/events.md says:
// - begin after the event that the retained state of a table names, or with the first event of a run that begins while it
//   listens: an event may overtake the one before it, also the very first;
// - skip an event that it has already seen: the daemon repeats what the broker did not acknowledge;
// - detect a gap in seq and request the missing events with recall, up to 100 at a time;
// - hold back later events until the gap is filled.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import mqtt from "mqtt";

const { values: given } = parseArgs({
    options: {
        host: { type: "string", default: "127.0.0.1" },
        port: { type: "string", default: "1883" },
        site: { type: "string" },
        simulated: { type: "boolean", default: false }, // the simulated tables of the site
        username: { type: "string" },
        "password-file": { type: "string" },
        "ca-file": { type: "string" }, // TLS: the CA of the broker's certificate
        "cert-file": { type: "string" }, // TLS: our certificate
        "key-file": { type: "string" }, // TLS: its private key
        count: { type: "string" }, // stop after this many events
    },
});
if (!given.site) throw new Error("name the site: --site casino-mayor");

const root = `${given.simulated ? "novamas-sim" : "novamas"}/v1/${given.site}`;
const clientId = `example-${randomUUID().slice(0, 8)}`; // our name in reply/<client>
const tables = new Map(); // "table boot" -> { last: seq of the last event printed or of before us, waiting: events after a gap, by seq }
let printed = 0;

const read = (name) => (given[name] ? readFileSync(given[name], "utf8") : undefined);
const client = mqtt.connect({
    protocol: given["ca-file"] ? "mqtts" : "mqtt",
    host: given.host,
    port: Number(given.port),
    clientId,
    protocolVersion: 5,
    username: given.username,
    password: read("password-file")?.trimEnd(),
    ca: read("ca-file"),
    cert: read("cert-file"),
    key: read("key-file"),
});
client.on("connect", () =>
    client.subscribe([`${root}/+/state`, `${root}/+/event`, `${root}/+/reply/${clientId}`], {
        qos: 1,
    }),
);
client.on("message", (topic, payload, packet) => {
    if (payload.length === 0) return; // the state of a table that is gone
    const body = JSON.parse(payload);
    const name = topic.split("/")[3];
    if (topic.endsWith("/state")) {
        // A run that is new at a table that we know has begun while we listened, or were away.
        const known = [...tables.keys()].some(
            (key) => key.startsWith(`${name} `) && key !== `${name} ${body.boot}`,
        );
        const table = run(name, body.boot);
        table.last ??= Math.min(
            packet.retain && !known ? body.seq : 0,
            ...[...table.waiting.keys()].map((seq) => seq - 1),
        );
        goOn(name, body.boot);
        return;
    }
    for (const event of topic.endsWith("/event") ? [body] : (body.events ?? [])) {
        // otherwise the answer to a recall
        const table = run(name, event.boot);
        if (event.seq > (table.last ?? 0)) table.waiting.set(event.seq, event);
        goOn(name, event.boot);
    }
});

function run(name, boot) {
    const key = `${name} ${boot}`;
    if (!tables.has(key)) tables.set(key, { waiting: new Map() });
    return tables.get(key);
}

// Print what can be printed, and ask for what is missing.
function goOn(name, boot) {
    const table = run(name, boot);
    if (table.last === undefined) return;
    while (table.waiting.has(table.last + 1)) {
        table.last += 1;
        const next = table.waiting.get(table.last);
        table.waiting.delete(table.last);
        console.log(name, boot, next.seq, next.type);
        printed += 1;
    }
    if (table.waiting.size > 0) {
        const order = {
            boot,
            from: table.last + 1,
            to: Math.min(...table.waiting.keys()) - 1,
            client: clientId,
        };
        client.publish(`${root}/${name}/command/recall`, JSON.stringify(order), { qos: 1 });
    }
    if (given.count && printed >= Number(given.count)) client.end();
}
