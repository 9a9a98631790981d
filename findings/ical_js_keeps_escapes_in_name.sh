#!/usr/bin/env bash
# ical.js: the name of a calendar (NAME, RFC 7986) is returned with its escapes, unlike SUMMARY and DESCRIPTION.
#
# Both are TEXT, where "\," stands for a comma. A program built on the library shows the title of a calendar, escaped as the
# standard asks, as "Nights\, days".
set -euo pipefail
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact ical.js@2.2.1 >/dev/null
cat >try.mjs <<'JS'
import ICAL from 'ical.js';

const lines = [
  'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//example//EN', 'NAME:Nights\\, days',
  'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20270101T000000Z', 'DTSTART:20270101T000000Z', 'SUMMARY:Nights\\, days', 'END:VEVENT',
  'END:VCALENDAR',
];
const calendar = new ICAL.Component(ICAL.parse(lines.join('\r\n')));
const [name, summary] = [calendar, calendar.getFirstSubcomponent('vevent')].map((component, index) =>
  component.getFirstPropertyValue(['name', 'summary'][index]),
);
console.log(`NAME: ${name}`);
console.log(`SUMMARY: ${summary}`);
process.exit(name === 'Nights\\, days' && summary === 'Nights, days' ? 0 : 1);
JS
echo "ical.js $(node -p "require('./package.json').dependencies['ical.js']")"
node try.mjs
