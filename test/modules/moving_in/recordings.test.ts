import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn } from '#modules/moving_in/move_in.ts';
import { readFolder } from '#modules/moving_in/read_folder.ts';
import { NOW } from '#test/modules/moving_in/answers.ts';

/** Folder with recorded answers, one folder for each tenant; tests skip without it. */
const RECORDINGS = process.env['MOVE_IN_RECORDINGS'] ?? '';
const folders = existsSync(RECORDINGS)
  ? readdirSync(RECORDINGS, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  : [];

test.skipIf(folders.length === 0)(
  'every schedule of the recordings says the same at every minute, over both changes of clocks',
  async () => {
    for (const { name } of folders) {
      const tool = /opsgenie/i.test(name)
        ? 'opsgenie'
        : /victorops|splunk/i.test(name)
          ? 'splunk-on-call'
          : /oncall/i.test(name)
            ? 'grafana-oncall'
            : 'pagerduty';
      const { documents, unreadable } = await readFolder(path.join(RECORDINGS, name));
      for (const proofFrom of [null, Date.parse('2026-03-01T00:00:00Z'), Date.parse('2026-10-01T00:00:00Z')]) {
        const { report } = moveIn(MOVE_IN_TOOLS[tool]!, documents, unreadable, { now: NOW, proofFrom });
        expect({ name, different: report.proof.filter(({ minutes, equal }) => minutes !== equal) }).toEqual({
          name,
          different: [],
        });
        const counts = Object.entries(report.read).map(([kind, count]) => [
          kind,
          count,
          report.items.filter((item) => item.kind === kind).length,
        ]);
        expect(counts.filter(([, count, items]) => count !== items)).toEqual([]);
      }
    }
  },
);
