"""Runs the checks of scim2-tester against the address and token given; prints a JSON line for each check."""

import json
import os
import sys

from httpx import Client
from scim2_client.engines.httpx import SyncSCIMClient
from scim2_tester import check_server

client = Client(
    base_url=os.environ["SCIM_URL"],
    headers={"Authorization": f"Bearer {os.environ['SCIM_TOKEN']}"},
    timeout=30,
)
for result in check_server(SyncSCIMClient(client)):
    line = {
        "status": result.status.name,
        "title": result.title,
        "reason": result.reason,
        "resource": result.resource_type,
        "data": str(result.data)[:300],
    }
    json.dump(line, sys.stdout)
    print()
