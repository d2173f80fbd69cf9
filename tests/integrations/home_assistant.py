"""Home Assistant's own core and MQTT integration, without its user interface: every state of every
entity as a JSON line. Run by the Python in which Home Assistant is installed, not by the project's:
``python home_assistant.py FOLDER BROKERPORT WEBPORT``.
"""

import asyncio
import json
import sys
from pathlib import Path

from homeassistant import auth, bootstrap, config_entries, core, loader
from homeassistant.helpers import device_registry
from homeassistant.setup import async_setup_component


async def main(folder: str, broker: int, web: int) -> None:
    home = core.HomeAssistant(folder)
    home.config.skip_pip = True
    loader.async_setup(home)
    home.config_entries = config_entries.ConfigEntries(home, {})
    await bootstrap.async_load_base_functionality(home)
    home.auth = await auth.auth_manager_from_config(home, [], [])
    here = {"server_host": ["127.0.0.1"], "server_port": web}
    assert await async_setup_component(home, "homeassistant", {})
    assert await async_setup_component(home, "http", {"http": here})
    devices = device_registry.async_get(home)

    def tell(event: core.Event) -> None:
        state = event.data["new_state"]
        told = {"entity": event.data["entity_id"], "state": state and state.state}
        if state is not None:
            told["attributes"] = dict(state.attributes)
        told["devices"] = sorted(device.name or "" for device in devices.devices.values())
        print(json.dumps(told, default=str), flush=True)

    home.bus.async_listen("state_changed", core.callback(tell))
    entry = config_entries.ConfigEntry(
        version=1,
        minor_version=1,
        domain="mqtt",
        title="mqtt",
        source=config_entries.SOURCE_USER,
        data={"broker": "127.0.0.1", "port": broker, "username": "home-assistant"},
    )
    await home.config_entries.async_add(entry)
    assert entry.state is config_entries.ConfigEntryState.LOADED, entry.reason
    await home.async_start()
    await asyncio.Event().wait()


Path(sys.argv[1], "configuration.yaml").touch()
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
