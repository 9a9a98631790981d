import { ConfigurationFile, FILE_VERSION } from '#modules/configuration/decide/file.ts';

/** Returns the JSON Schema of configuration files. */
export function configurationSchema(): object {
  const { properties, ...schema } = JSON.parse(JSON.stringify(ConfigurationFile)) as { properties: object };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of Tocsin',
    ...schema,
    properties: { ...properties, version: { const: FILE_VERSION, description: 'version of the format' } },
  };
}
