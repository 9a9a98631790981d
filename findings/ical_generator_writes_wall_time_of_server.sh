#!/usr/bin/env bash
# ical-generator: a calendar with a time zone writes a Date as the wall time of the server, without the zone.
#
# 12:00 UTC is 13:00 in Brussels. On a server in New York, with timezone: 'Europe/Brussels', the event begins at "07:00" of
# no zone at all: every reader shows it six hours early. Without a time zone it is written in UTC, which is right.
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact ical-generator@11.1.2 >/dev/null
cat >try.mjs <<'JS'
import ical from 'ical-generator';

const beginOf = (options) => {
  const calendar = ical({ name: 'On call', ...options });
  calendar.createEvent({ start: new Date('2027-01-10T12:00:00Z'), end: new Date('2027-01-10T13:00:00Z'), summary: 'shift' });
  return /^DTSTART.*$/m.exec(calendar.toString())[0].trim();
};
const [zoned, plain] = [beginOf({ timezone: 'Europe/Brussels' }), beginOf({})];
console.log(`timezone Europe/Brussels: ${zoned}`);
console.log(`no timezone: ${plain}`);
process.exit(zoned === 'DTSTART:20270110T070000' && plain === 'DTSTART:20270110T120000Z' ? 0 : 1);
JS
echo "ical-generator $(node -p "require('./package.json').dependencies['ical-generator']")"
TZ=America/New_York node try.mjs
