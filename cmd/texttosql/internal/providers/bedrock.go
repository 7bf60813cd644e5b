package providers

import (
	"context"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/tmc/langchaingo/llms/bedrock"

	"github.com/texttosql/texttosql/internal/providers"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
)

// awsEndpoint names another address, as it does for the tools of AWS.
const awsEndpoint = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"

// amazon is AWS Bedrock, whose requests are signed. Keys come from variables alone: a profile, a role or single sign-on
// is turned into them by "aws configure export-credentials --format env".
var amazon = providers.Provider{
	Name: "bedrock", Variables: []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
		"AWS_DEFAULT_REGION", awsEndpoint},
	Build: func(name string, getenv func(string) string, c *http.Client) (llm.Model, string, error) {
		var key aws.Credentials
		var err error
		if key.AccessKeyID, err = providers.Variable(getenv, "AWS_ACCESS_KEY_ID"); err != nil {
			return nil, "", err
		}
		if key.SecretAccessKey, err = providers.Variable(getenv, "AWS_SECRET_ACCESS_KEY"); err != nil {
			return nil, "", err
		}
		key.SessionToken = strings.TrimSpace(getenv("AWS_SESSION_TOKEN"))
		region, err := providers.Variable(getenv, "AWS_REGION", "AWS_DEFAULT_REGION")
		if err != nil {
			return nil, "", err
		}
		options := bedrockruntime.Options{
			// llm.Retry repeats calls, and counts them
			Region: region, HTTPClient: langchain.HTTPClient(c), Retryer: aws.NopRetryer{},
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return key, nil }),
		}
		server := "https://bedrock-runtime." + region + ".amazonaws.com"
		if other := strings.TrimSpace(getenv(awsEndpoint)); other != "" {
			server, options.BaseEndpoint = other, &other
		}
		m, err := bedrock.New(bedrock.WithModel(name), bedrock.WithClient(bedrockruntime.New(options)))
		return langchain.Model(m), server, err
	},
}
