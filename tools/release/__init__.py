"""Making a release: what the packed program holds, the carrier, licences, the bill of materials."""
