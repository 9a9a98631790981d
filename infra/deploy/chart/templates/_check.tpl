{{/* Everything that is missing or does not fit together, in sentences, before anything is installed. */}}
{{- define "tocsin.check" -}}
{{- $values := .Values -}}
{{- $faults := list -}}
{{- if not $values.baseUrl -}}
{{- $faults = append $faults "baseUrl is not set: set it to the public address, as in https://tocsin.example.com" -}}
{{- else if not (regexMatch "^https?://[^/?#]+(/[^?#]*)?$" $values.baseUrl) -}}
{{- $faults = append $faults (printf "baseUrl is %s: write it as https://tocsin.example.com, with a path if there is one" $values.baseUrl) -}}
{{- else if and $values.ingress.enabled $values.ingress.tlsSecret (hasPrefix "http://" $values.baseUrl) -}}
{{- $faults = append $faults "ingress.tlsSecret asks for HTTPS, and baseUrl begins with http://: begin it with https://, or remove the certificate" -}}
{{- end -}}

{{- range $name := list "APP_SECRET" "DATABASE_URL" "CLICKHOUSE_URL" -}}
{{- if not (hasKey $values.secrets $name) -}}
{{- $faults = append $faults (printf "secrets.%s is not set: name the Secret and the key that hold it, as in { name: tocsin, key: %s }" $name (lower $name | replace "_" "-")) -}}
{{- end -}}
{{- end -}}

{{- $declared := .Files.Get "settings.json" | fromJson -}}
{{- $ofTraces := list "OTEL_EXPORTER_OTLP_HEADERS" "OTEL_EXPORTER_OTLP_TRACES_HEADERS" -}}
{{- $ofChart := list "BASE_URL" "PORT" "HOST" "DATA_DIR" "METRICS_PORT" "METRICS_HOST" -}}
{{- range $name, $value := $values.settings -}}
{{- if has $name $ofChart -}}
{{- $faults = append $faults (printf "settings.%s is set by the chart: remove it" $name) -}}
{{- else if or (has $name $declared.secrets) (has $name $ofTraces) -}}
{{- $faults = append $faults (printf "settings.%s is a secret: name the Secret that holds it under secrets.%s" $name $name) -}}
{{- else if not (or (has $name $declared.settings) (hasPrefix "OTEL_" $name)) -}}
{{- $faults = append $faults (printf "settings.%s is no setting of this release: correct the name, or remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $values.secrets -}}
{{- if has $name $declared.settings -}}
{{- $faults = append $faults (printf "secrets.%s is no secret: move it to settings.%s" $name $name) -}}
{{- else if not (or (has $name $declared.secrets) (has $name $ofTraces)) -}}
{{- $faults = append $faults (printf "secrets.%s is no setting of this release: correct the name, or remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $with := $declared.requiredWith -}}
{{- $given := or (hasKey $values.settings $with) (hasKey $values.secrets $with) -}}
{{- if and $given (not (or (hasKey $values.settings $name) (hasKey $values.secrets $name) (has $name (list "APP_SECRET" "DATABASE_URL")))) -}}
{{- $where := ternary "secrets" "settings" (has $name $declared.secrets) -}}
{{- $faults = append $faults (printf "%s.%s is not set, which %s needs" $where $name $with) -}}
{{- end -}}
{{- end -}}

{{- if lt (int $values.pager.replicas) 1 -}}
{{- $faults = append $faults "pager.replicas is 0, and without a pager nobody is paged: set it to 1 or more" -}}
{{- end -}}
{{- range $component, $unit := dict "api" "nobody can sign in or send anything" "worker" "nothing that is sent is stored" -}}
{{- $own := index $values $component -}}
{{- if and (not $own.autoscaling.enabled) (lt (int $own.replicas) 1) -}}
{{- $faults = append $faults (printf "%s.replicas is 0, and then %s: set it to 1 or more" $component $unit) -}}
{{- end -}}
{{- if and $own.autoscaling.enabled (gt (int $own.autoscaling.minReplicas) (int $own.autoscaling.maxReplicas)) -}}
{{- $faults = append $faults (printf "%s.autoscaling.minReplicas (%d) is more than its maxReplicas (%d): exchange them" $component (int $own.autoscaling.minReplicas) (int $own.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- if and $values.worker.autoscaling.enabled (not $values.worker.autoscaling.prometheusAddress) -}}
{{- $faults = append $faults "worker.autoscaling.prometheusAddress is not set: workers are scaled on what Prometheus knows; set its address, as in http://prometheus.monitoring:9090" -}}
{{- end -}}

{{- $drain := add (int $values.preStopSeconds) 20 -}}
{{- if lt (int $values.terminationGracePeriodSeconds) (int $drain) -}}
{{- $faults = append $faults (printf "terminationGracePeriodSeconds is %d, and a process may need %d s to stop (preStopSeconds, 15 s for its work, and a reserve of 5 s): set it to %d or more" (int $values.terminationGracePeriodSeconds) (int $drain) (int $drain)) -}}
{{- end -}}
{{- if and $values.podDisruptionBudget.enabled (lt (int $values.podDisruptionBudget.maxUnavailable) 1) -}}
{{- $faults = append $faults "podDisruptionBudget.maxUnavailable is 0, and then no node with a pod of it can be drained: set it to 1 or more" -}}
{{- end -}}
{{- if and $values.image.tag $values.image.digest -}}
{{- $faults = append $faults "image.tag and image.digest are both set: remove one of them" -}}
{{- end -}}
{{- if and $values.certificateAuthority (not (and $values.certificateAuthority.configMap $values.certificateAuthority.key)) -}}
{{- $faults = append $faults "certificateAuthority needs both configMap and key" -}}
{{- end -}}

{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot be used:\n  - %s\n" (join "\n  - " $faults)) -}}
{{- end -}}
{{- end -}}
