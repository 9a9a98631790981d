import { measureChanges, measureSimulator, measureThreshold } from './console/answers.ts';
import { measureDashboard, measureMillionPoints } from './console/charts.ts';
import { CHROMIUM, launch } from './console/browser.ts';
import { fill, fillMetrics, INCIDENTS, MILLION, SERVICES, WIDGETS } from './console/contents.ts';
import { CHANGES, measureKeys, measureMemory } from './console/lists.ts';
import { measurePages } from './console/pages.ts';
import { measureSlowNetwork } from './console/slow_network.ts';
import { count } from './figures.ts';
import { type Bench, printInputs, withInstallation } from './harness.ts';

/** Measurements, or those that `BENCH_CONSOLE` names: `pages,charts`. */
const PARTS = ['pages', 'keys', 'charts', 'answers', 'slow', 'memory'] as const;
const wanted = (process.env['BENCH_CONSOLE'] ?? PARTS.join(',')).split(',');
const isWanted = (part: (typeof PARTS)[number]): boolean => wanted.includes(part);

export const consolePages: Bench = {
  name: 'console',
  about:
    'the console in Chromium: weight, requests and layout shift of a first visit (goal: 250 kB, 15 requests, 0), keys, charts, dashboards, what follows a hand or another person, a slow network, memory',
  run: () =>
    withInstallation(async (installation) => {
      if (CHROMIUM === undefined) {
        console.log('  skipped: there is no Chromium\n');
        return;
      }
      printInputs({
        incidents: `${count(INCIDENTS)}, every tenth open`,
        services: SERVICES,
        changes: CHANGES,
        charts: `${MILLION.series} series of ${MILLION.days} days, a point every ${MILLION.stepSeconds} s; a dashboard of ${WIDGETS} widgets`,
      });
      const serviceId = await fill(installation);
      const incident = `incidents/incident_${'10'.padStart(26, '0')}`;
      const browser = await launch(CHROMIUM);
      try {
        if (isWanted('pages')) await measurePages(browser, installation, serviceId);
        if (isWanted('keys')) await measureKeys(browser, installation);
        if (isWanted('charts') || isWanted('answers')) await fillMetrics(installation, serviceId);
        if (isWanted('charts')) {
          await measureMillionPoints(browser, installation, serviceId);
          await measureDashboard(browser, installation, serviceId);
        }
        if (isWanted('answers')) {
          await measureThreshold(browser, installation, serviceId);
          await measureSimulator(browser, installation);
          await measureChanges(browser, installation);
        }
        if (isWanted('slow')) await measureSlowNetwork(browser, installation, incident);
        if (isWanted('memory')) await measureMemory(browser, installation, serviceId);
      } finally {
        await browser.close();
      }
    }),
};
