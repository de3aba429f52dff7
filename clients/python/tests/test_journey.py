"""examples/journey/journey.py: a patient's way through a practice, by each token flow, as an integrator would copy it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import Practice, settings

program = Path(settings["root"], "examples/journey/journey.py")


class Journey(unittest.TestCase):
    maxDiff = None

    def test_it_leaves_what_it_says_by_both_flows(self) -> None:
        practice = Practice(isSynthetic=True)
        key, password = practice.credentials, practice.password
        origin, environment, _, firm, product = practice.base.rsplit("/", 6)[:5]
        sandbox = {
            "origin": origin,
            "environment": environment,
            "product": product,
            "firms": [firm],
            "applications": [
                {
                    "name": "Full access",
                    "client": {"apiKey": key.api_key, "clientId": key.client_id, "clientSecret": key.client_secret},
                    "legacy": {
                        firm: {
                            "apiKey": password.api_key,
                            "username": password.username,
                            "password": password.password,
                        }
                    },
                }
            ],
        }
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "sandbox.json").write_text(json.dumps(sandbox), "utf-8")
            ran = subprocess.run(
                [sys.executable, str(program)],
                env={**os.environ, "PRAXIS_DATA_DIR": directory},
                capture_output=True,
                text=True,
                timeout=60,
            )
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.returncode, 0)
        lines = ran.stdout.splitlines()
        self.assertEqual(
            (len(lines), lines[0], lines[9]), (18, f"client credentials at {firm}", f"password grant at {firm}")
        )
        made = dict(word.split("/") for line in lines[:9] for word in line.split() if word.count("/") == 1)
        with practice.open() as client:
            appointment = client.read("Appointment", made["Appointment"])
            self.assertEqual(appointment["status"], "fulfilled")
            self.assertEqual(appointment["participant"][0]["actor"]["reference"], f"Patient/{made['Patient']}")
            encounter = client.read("Encounter", made["Encounter"])
            self.assertEqual(
                (encounter["status"], encounter["appointment"][0]["reference"]),
                ("finished", f"Appointment/{made['Appointment']}"),
            )
            charge = client.read("ChargeItem", made["ChargeItem"])
            self.assertEqual(
                (charge["status"], charge["context"]["reference"]), ("billable", f"Encounter/{made['Encounter']}")
            )
            [document] = client.search("DocumentReference", {"patient": made["Patient"]})
            self.assertEqual(document["id"], made["DocumentReference"])
            recall = client.read("Task", made["Task"])
            self.assertEqual((recall["status"], recall["for"]["reference"]), ("ready", f"Patient/{made['Patient']}"))
