// The loop that an integrator would write in an afternoon with serialport and MQTT.js. It neither
// checks nor stores anything.
import mqtt from "mqtt";
import { ReadlineParser, SerialPort } from "serialport";

const [path, brokerPort, topic] = process.argv.slice(2);
const client = mqtt.connect(`mqtt://127.0.0.1:${brokerPort}`);
const lines = new SerialPort({ path, baudRate: 9600 }).pipe(
  new ReadlineParser({ delimiter: "\r\n" }),
);
lines.on("data", (line) => client.publish(topic, line, { qos: 1 }));
