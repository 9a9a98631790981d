{{- define "tocsin.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "tocsin.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of every object; with a component where it belongs to one: (dict "root" . "component" "api"). */}}
{{- define "tocsin.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "tocsin.selector" .root }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Further ports of the API, as they are set: one line of "name port protocol" each. */}}
{{- define "tocsin.furtherPorts" -}}
{{- range $variable, $as := dict "MAIL_IN_PORT" "mail TCP" "OTLP_GRPC_PORT" "otlp-grpc TCP" "STATSD_PORT" "statsd UDP" -}}
{{- with int (get $.Values.settings $variable) }}
{{ first (splitList " " $as) }} {{ . }} {{ last (splitList " " $as) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tocsin.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tocsin.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "tocsin.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}
