import { isApiError } from '#console/api/http.ts';

/** What the server says is wrong, by the field of the form that it is about: for `form.setErrors`. */
export function faultsAtFields(error: unknown, values: object): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.flatMap(({ path, message }) => {
      const [field = ''] = path.split(/[.[]/);
      return Object.hasOwn(values, field) ? [[field, sentence(message)]] : [];
    }),
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
