{{- define "drover.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* Lease, fence and aws-auth stand in kube-system, and so does the account that they name. */ -}}
{{- define "drover.namespace" -}}
{{- if ne .Release.Namespace "kube-system" -}}
{{- fail (printf "drover runs in kube-system, not in %s: run helm with --namespace kube-system" .Release.Namespace) -}}
{{- end -}}
kube-system
{{- end -}}

{{- define "drover.labels" -}}
app.kubernetes.io/name: drover-controller
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /*
The queue's region where its URL names one. Without a queue, the webhooks of EKS Pod Identity and
IRSA set AWS_REGION in the pod; credentials of the instance come without a region.
*/ -}}
{{- define "drover.region" -}}
{{- $inUrl := regexReplaceAll "^https?://(?:[^/]*[.])?(?:sqs(?:-fips)?[.])?([a-z]{2}(?:-[a-z]+)+-[0-9])[.].*$" .Values.controller.queueUrl "${1}" -}}
{{- $ofQueue := ternary "" $inUrl (or (contains "/" $inUrl) (eq $inUrl "")) -}}
{{- if .Values.controller.awsRegion -}}
{{- if and $ofQueue (ne $ofQueue .Values.controller.awsRegion) -}}
{{- fail (printf "controller.awsRegion is %s and controller.queueUrl is in %s: the queue of a controller is in the region of its groups" .Values.controller.awsRegion $ofQueue) -}}
{{- end -}}
{{- .Values.controller.awsRegion -}}
{{- else if $ofQueue -}}
{{- $ofQueue -}}
{{- else if .Values.controller.queueUrl -}}
{{- fail (printf "set controller.awsRegion: the address %s of controller.queueUrl names no region" .Values.controller.queueUrl) -}}
{{- end -}}
{{- end -}}
