import { isApiError } from '#console/api/http.ts';

/** Returns the server's faults, by the path of the field, which is its name in the form. */
export function serverFaults(error: unknown): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(error.faults.map(({ path, message }) => [path, capital(message)]));
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
