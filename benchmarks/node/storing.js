// The loop of integrator.js, which also stores each line durably before publishing it: SQLite with a
// write-ahead log and one synchronous commit per line.
import Database from "better-sqlite3";
import mqtt from "mqtt";
import { ReadlineParser, SerialPort } from "serialport";

const [path, brokerPort, topic, database] = process.argv.slice(2);
const store = new Database(database);
store.pragma("journal_mode = WAL");
store.pragma("synchronous = FULL");
store.exec("CREATE TABLE line (position INTEGER PRIMARY KEY, body TEXT NOT NULL)");
const insert = store.prepare("INSERT INTO line (body) VALUES (?)");
const client = mqtt.connect(`mqtt://127.0.0.1:${brokerPort}`);
const lines = new SerialPort({ path, baudRate: 9600 }).pipe(
  new ReadlineParser({ delimiter: "\r\n" }),
);
lines.on("data", (line) => {
  insert.run(line);
  client.publish(topic, line, { qos: 1 });
});
