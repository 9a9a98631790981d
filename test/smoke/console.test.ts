import { type Phone, startPhone } from '@tocsin/phone-simulator';
import { afterAll, afterEach, beforeAll } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, startConsole } from '#test/browser/console_world.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { dataFlows } from '#test/smoke/data_flows.ts';
import { type Smoke, TOUCH } from '#test/smoke/flows.ts';
import { pagingFlows } from '#test/smoke/paging_flows.ts';
import { settingsFlows } from '#test/smoke/settings_flows.ts';
import { sharedContexts } from '#test/smoke/shared_contexts.ts';
// The first passkey of a process loads it, which takes longer than a flow.
import '@simplewebauthn/server';

const ACCOUNT_SID = `AC${'0'.repeat(32)}`;
const AUTH_TOKEN = 'token of the test account';
const SERVICE_NUMBER = '+15005550006';

/** Below the time-out of a test, so that a failure names what the page did not show. */
const WAIT_MS = 8_000;

let phones: Phone | null = null;
let console: ConsoleWorld | null = null;
const { contextFor, release } = sharedContexts();

const smoke: Smoke = {
  newOrganization: async () => await console!.forOrganization(),
  get phones() {
    return phones!;
  },
};

inBrowser(
  'the console',
  () => {
    beforeAll(async () => {
      const account = { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN };
      phones = await startPhone({ ...account, numbers: [{ e164: SERVICE_NUMBER, smsUrl: 'http://127.0.0.1/' }] });
      const settings = {
        twilioAccountSid: ACCOUNT_SID,
        twilioAuthToken: AUTH_TOKEN,
        twilioFrom: SERVICE_NUMBER,
        twilioApiBase: phones.url,
      };
      const port = await findFreePort(0);
      // Browsers offer passkeys on localhost, not on 127.0.0.1.
      console = await startConsole({ port, publicUrl: `http://localhost:${port}`, settings, contextFor });
      // The first page of a profile compiles the console.
      for (const profile of [{}, TOUCH]) await (await console.signedOutPage(profile)).goto(`${console.baseUrl}/login`);
      await release(false);
    });
    afterEach(async ({ task }) => await release(task.result?.state === 'fail'));
    afterAll(async () => {
      await console?.close();
      await phones?.close();
    });

    pagingFlows(smoke);
    dataFlows(smoke);
    settingsFlows(smoke);
  },
  { waitMs: WAIT_MS },
);
