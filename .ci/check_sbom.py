"""Check the list of what is compiled into a wheel: its schema, its versions, and that each licence is shipped.

python check_sbom.py WHEEL
"""

import json
import sys
from zipfile import ZipFile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    [sbom] = [name for name in names if name.endswith(".dist-info/sboms/hornbeam.cdx.json")]
    text = wheel.read(sbom).decode()

if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
    sys.exit(f"{sbom} does not follow the schema of CycloneDX 1.6: {error}")
home = sbom.removesuffix("/sboms/hornbeam.cdx.json")
for component in json.loads(text)["components"]:
    name, version = component["name"], component["version"]
    if not version.replace(".", "").isdecimal() or not component["purl"].endswith(version):
        sys.exit(f"{sbom}: {name} has the version {version!r} and the address {component['purl']!r}")
    if f"{home}/licenses/licenses/{name}.txt" not in names:
        sys.exit(f"{name} is compiled in, but licenses/{name}.txt is not in the wheel")
    print(name, version, component["licenses"][0]["license"]["id"])
