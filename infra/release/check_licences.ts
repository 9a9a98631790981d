/** `npm run check:licences`: fails when a package that is installed with the product has an unknown or copyleft licence. */
import { conclude, readLockFile } from './lock_faults.ts';
import { licenceFaults, listLicences } from './licence_faults.ts';

const packages = readLockFile();
const licensed = listLicences(packages);
if (process.argv.includes('--list')) {
  for (const { name, version, licence } of licensed)
    process.stdout.write(`${name} ${version}: ${licence ?? 'unknown'}\n`);
}
const counts = Map.groupBy(licensed, ({ licence }) => licence ?? 'unknown');
const summary = [...counts].map(([licence, ones]) => `${licence} ${ones.length}`).join(', ');
conclude(licenceFaults(packages), `${licensed.length} packages are passed on: ${summary}.`);
