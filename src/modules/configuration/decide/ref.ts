/** Reference to a resource: its key, or `@` and its id where no key names it. No key begins with `@`. */
export type Ref = string;

export function refOfId(id: string): Ref {
  return `@${id}`;
}
