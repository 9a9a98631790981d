import { build } from 'vite';
import { expect, test } from 'vitest';

import { tablerIcons } from '#infra/console/tabler_icons.ts';

test.each([
  ['chekc', 'Tabler has no icon "chekc"'],
  ['star-filled', 'The icon "star-filled" is not drawn with lines alone'],
])('the build names the icon %s, which cannot be shown, and fails', async (name, fault) => {
  const input = `virtual:tabler/${name}`;
  const options = { write: false, rolldownOptions: { input } };
  await expect(
    build({ configFile: false, plugins: [tablerIcons], logLevel: 'silent', build: options }),
  ).rejects.toThrow(fault);
});
