import { type Configuration, Provider } from 'oidc-provider';

import { hashOfClientSecret, nextRefreshTokens } from '#auth/oauth/record_adapter.ts';
import { newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/secret_prefixes.ts';

/**
 * An oidc-provider whose models are subclasses of its own. Tokens have prefixes, by which secret scanners and our own log
 * recognise them; client secrets are compared by hash, because only their hashes are stored.
 */
export function createProvider(baseUrl: string, appSecret: string, configuration: Configuration): Provider {
  const provider = new Provider(baseUrl, configuration);
  const models = {
    AccessToken: accessTokenOf(provider),
    AuthorizationCode: authorizationCodeOf(provider),
    RefreshToken: refreshTokenOf(provider, appSecret),
    Client: clientOf(provider),
  };
  // oidc-provider looks its models up on the provider each time; its own are getters, which properties shadow.
  for (const [name, value] of Object.entries(models)) Object.defineProperty(provider, name, { value });
  return provider;
}

/*
 * The name of each class is the kind under which its records are stored.
 */

function accessTokenOf({ AccessToken: Base }: Provider): typeof Base {
  return class AccessToken extends Base {
    /** Format of the token; oidc-provider sets it when it generates the token's text itself. */
    override readonly format = 'opaque';

    override save(): Promise<string> {
      this.jti ||= newSecretText(SECRET_PREFIXES.accessToken);
      return super.save();
    }
  };
}

function authorizationCodeOf({ AuthorizationCode: Base }: Provider): typeof Base {
  return class AuthorizationCode extends Base {
    override save(): Promise<string> {
      this.jti ||= newSecretText(SECRET_PREFIXES.authorizationCode);
      return super.save();
    }
  };
}

/** A client that uses a token twice at the same time gets the same next one both times. */
function refreshTokenOf({ RefreshToken: Base }: Provider, appSecret: string): typeof Base {
  const nextOf = nextRefreshTokens(appSecret);
  const nextToken = (): string => {
    const rotated = Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti;
    return rotated === undefined ? newSecretText(SECRET_PREFIXES.refreshToken) : nextOf(rotated);
  };
  return class RefreshToken extends Base {
    override save(): Promise<string> {
      this.jti ||= nextToken();
      return super.save();
    }
  };
}

function clientOf({ Client: Base }: Provider): typeof Base {
  return class Client extends Base {
    // In the base they are getters of private static properties, which a subclass does not have.
    static readonly adapter: unknown = Reflect.get(Base, 'adapter');
    static readonly Schema: unknown = Reflect.get(Base, 'Schema');

    override compareClientSecret(secret: string): ReturnType<InstanceType<typeof Base>['compareClientSecret']> {
      return super.compareClientSecret(hashOfClientSecret(secret));
    }
  };
}
