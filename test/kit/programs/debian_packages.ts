/** The packages that `.ci/run` requires; empty on a developer's machine. */
const VARIABLE = 'REQUIRED_PACKAGES';

const isRequired = (debianPackage: string): boolean =>
  (process.env[VARIABLE] ?? '').split(/\s+/).includes(debianPackage);

/**
 * Whether tests that need this Debian package can run. Without it they are skipped, and the output says so. Where the
 * package is required, as in CI, they fail instead: no test is skipped there unnoticed.
 */
export function canRunWith(debianPackage: string, isInstalled: boolean): boolean {
  if (isInstalled) return true;
  const remedy = `Install it with: apt-get install ${debianPackage}`;
  if (isRequired(debianPackage)) {
    throw new Error(`These tests need the Debian package ${debianPackage}, which is missing. ${remedy}`);
  }
  console.log(`Tests are skipped because the Debian package ${debianPackage} is missing. ${remedy}`);
  return false;
}
