/**
 * Reads the arguments of a program that takes none: prints the usage on `--help`, and refuses anything else with status
 * 2.
 */
export function refuseArguments(usage: string, args: readonly string[] = process.argv.slice(2)): void {
  const [first] = args;
  if (first === undefined) return;
  if (first === '--help' || first === '-h') {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  process.stderr.write(`unknown argument: ${first}\n\n${usage}\n`);
  process.exit(2);
}
