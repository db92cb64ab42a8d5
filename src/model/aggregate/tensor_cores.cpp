// What names say about tensor cores: of operations whether they could use them, of kernels whether they do. Names are the
// fallback where nothing was measured. Tables of data; each says where it is from.
#include <algorithm>
#include <array>

#include "model/fold/fold.h"

namespace dlkprof::model {
namespace {

using Word = std::string_view;

// Parts of the names of kernels that use them; '*' stands for anything between two parts.
constexpr auto kKernelParts = std::to_array<Word>(
    {// PyProf, pyprof/prof/tc.py, and Kineto after it.
     "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
     "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm", "xmma_gemm",
     "xmma_sparse_gemm", "c1688",
     // XProf, xprof/utils/kernel_stats_utils.cc.
     "i16832",
     // Kernels of cuDNN 9 and cuBLAS 12 that a tensor pipe was measured busy in, and their like: the shape of the instruction
     // (tensor16x8x8), or the warp groups of Hopper's.
     "_tensor8x8x", "_tensor16x8x", "_warpgroupsize",
     // cuBLAS from Hopper on. They are made of wgmma and tcgen05 throughout: nvjet_hsh_, nvjet_tst_, nvjet_sm100_...
     "nvjet_",
     // CUTLASS 2: names of cutlass_profiler and cuBLAS, and of template arguments.
     "_tensorop_", "OpClassTensorOp", "MmaTensorOp", "d884gemm", "s16832",
     // CUTLASS 3 and 4: collectives and instructions of Hopper (GMMA) and Blackwell (UMMA).
     "MainloopSm90*Gmma", "MainloopSm100*Umma", "SM90_64x", "MMA_64x", "SM100_MMA_", "wgmma", "tcgen05", "wmma", "mma_sync",
     // FlashAttention 2 and 3, also as PyTorch has it, cuDNN's and TensorRT's. Not the kernels before and after the products.
     "flash_fwd_kernel", "flash_fwd_splitkv_kernel", "flash_fwd_splitkv_mla_kernel", "flash_bwd_dq_dk_dv_loop", "FlashAttnFwdSm",
     "FlashAttnBwdSm", "compute_attn_ws", "native_sdpa_sm", "fmha_v2_",
     // xFormers' and PyTorch's memory-efficient attention: float32 too from sm_80 on.
     "fmha_cutlass*_sm70", "fmha_cutlass*_sm75", "fmha_cutlass*_sm80",
     // Triton: Inductor's templates, which are those of products, and XLA's fusions around a dot.
     "triton_tem_fused", "gemm_fusion_dot", "triton_gemm_dot"});

// Whatever else the name has in it, these use the ordinary pipes.
constexpr auto kOtherKernelParts =
    std::to_array<Word>({"simt_",  // CUTLASS: cutlass_80_simt_sgemm
                         "_ffma",  // xmma with scalar fused multiply-add: sm80_xmma_gemm_f32f32_f32f32_f32..._ffma_aligna4
                         "_dfma",  // and in double precision
                         "fmha_cutlassF_f32*_sm7", "fmha_cutlassB_f32*_sm7"});

// Operations of PyTorch that multiply matrices: ATen/autocast_mode.cpp's list of those to run in half precision, as Kineto
// has it, less products with vectors and prelu; then fused attention, what newer versions and cuDNN add, and their backwards.
// PyProf writes the same names without "aten::".
constexpr Word kAten =
    "_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution "
    "convolution_overrideable cudnn_convolution cudnn_convolution_transpose cudnn_convolution_relu "
    "cudnn_convolution_add_relu addmm _addmm_activation matmul __matmul__ mm linear addbmm baddbmm bmm chain_matmul "
    "linalg_multi_dot linalg_matmul einsum bilinear _trilinear _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell "
    "gru_cell rnn_tanh_cell rnn_relu_cell lstm gru rnn_tanh rnn_relu _cudnn_rnn _cudnn_rnn_backward _scaled_mm "
    "_grouped_mm _scaled_grouped_mm _int_mm _weight_int8pack_mm _weight_int4pack_mm scaled_dot_product_attention "
    "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
    "_flash_attention_forward _efficient_attention_forward _scaled_dot_product_flash_attention_backward "
    "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward "
    "_flash_attention_backward _efficient_attention_backward convolution_backward linear_backward matmul_backward "
    "cudnn_convolution_backward cudnn_convolution_backward_input cudnn_convolution_backward_weight "
    "cudnn_convolution_transpose_backward cudnn_convolution_transpose_backward_input "
    "cudnn_convolution_transpose_backward_weight";

// Nodes of PyTorch's autograd, without their number, that multiply matrices themselves.
constexpr Word kAutograd =
    "ConvolutionBackward ConvolutionOverrideableBackward CudnnConvolutionBackward CudnnConvolutionTransposeBackward "
    "AddmmBackward AddmmActivationBackward MmBackward BmmBackward BaddbmmBackward AddbmmBackward LinearBackward "
    "MatmulBackward CudnnRnnBackward ThnnFusedLstmCellBackward ThnnFusedGruCellBackward "
    "ScaledDotProductFlashAttentionBackward ScaledDotProductEfficientAttentionBackward "
    "ScaledDotProductCudnnAttentionBackward FlashAttentionBackward EfficientAttentionBackward";

// TensorFlow: XProf's IsOpTensorCoreEligible, by how a type (or a node's path, its last part the type) ends.
constexpr auto kTensorFlowEnds =
    std::to_array<Word>({"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "Conv3DBackpropFilterV2",
                         "Conv3DBackpropInputV2", "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter",
                         "DepthwiseConv2dNativeBackpropInput", "/MatMul", "FusedMatMul", "/CudnnRNN", "XlaDot", "XlaDotV2"});
constexpr auto kTensorFlowParts = std::to_array<Word>({"BatchMatMul", "CudnnRNNV", "CudnnRNNForward", "CudnnRNNBackprop"});

// How types of XLA's instructions begin: products and convolutions by themselves, in libraries, and in fusions around one.
constexpr auto kXlaBegins =
    std::to_array<Word>({"dot", "convolution", "gemm_fusion", "triton_gemm", "cublas-", "cudnn-conv", "cudnn-fmha", "fmha"});

// TensorRT's layers: those of ONNX, and its own.
constexpr auto kLayers = std::to_array<Word>(
    {"Conv", "ConvTranspose", "Gemm", "MatMul", "FullyConnected", "Convolution", "Deconvolution", "Matrix Multiply", "CudnnRNN"});

// Types that no tensor core multiplies: bool, and integers wider than 8 bits; complex numbers they take only in part. As the
// frameworks write them, in lower case and without "DT_".
constexpr Word kUnfitTypes =
    "bool int16 int32 int64 uint16 uint32 uint64 short int long complex32 complex64 complex128 cfloat cdouble chalf "
    "string qint32";

template <std::size_t n>
bool any_of(const std::array<Word, n>& words, auto holds) {
  return std::any_of(words.begin(), words.end(), holds);
}

// Whether a word is one of those of a list, which stand between spaces.
bool is_listed(Word list, Word word) {
  for (std::size_t at = list.find(word); at != Word::npos && !word.empty(); at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

// Whether the parts between the stars of `pattern` occur one after the other.
bool occurs(std::string_view pattern, std::string_view text) {
  for (;;) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
  }
}

// In-place operations ("aten::baddbmm_") are as those that are not.
bool is_pytorch_product(std::string_view type) {
  if (type.starts_with("aten::")) type.remove_prefix(6);
  if (type.ends_with('_') && !type.ends_with("__")) type.remove_suffix(1);
  const std::string_view node = type.substr(0, type.find_last_not_of("0123456789") + 1);
  return is_listed(kAten, type) || is_listed(kAutograd, node);
}

bool is_tensorflow_product(std::string_view type) {
  return type == "MatMul" || type == "CudnnRNN" || any_of(kTensorFlowEnds, [&](Word end) { return type.ends_with(end); }) ||
         any_of(kTensorFlowParts, [&](Word part) { return type.find(part) != std::string_view::npos; });
}

// Of layers made one ("Conv + Relu") one is enough.
bool is_layer_product(std::string_view type) {
  constexpr std::string_view kFused = " + ";
  for (;;) {
    const std::size_t end = type.find(kFused);
    if (any_of(kLayers, [&](Word layer) { return type.substr(0, end) == layer; })) return true;
    if (end == std::string_view::npos) return false;
    type.remove_prefix(end + kFused.size());
  }
}

bool is_xla_product(std::string_view type) {
  const auto begins = [&](Word begin) {
    if (!type.starts_with(begin)) return false;
    const std::string_view rest = type.substr(begin.size());  // dot_general and dot, but not dotted
    return begin.ends_with('-') || rest.empty() || rest.front() == '_' || rest.front() == '-' || rest.front() == '$';
  };
  return any_of(kXlaBegins, begins);
}

bool is_word_letter(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

bool is_unfit(std::string_view type) {
  std::string lower(type);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  std::string_view word = lower;
  if (word.starts_with("dt_")) word.remove_prefix(3);
  return is_listed(kUnfitTypes, word);
}

// Whether every type of a list as "[float16, int64]" is unfit; false of none. Indices and masks come along with the operands.
bool all_unfit(std::string_view types) {
  bool found = false;
  while (!types.empty()) {
    const auto* const begin = std::find_if(types.begin(), types.end(), is_word_letter);
    const auto* const end = std::find_if_not(begin, types.end(), is_word_letter);
    const std::string_view word(begin, static_cast<std::size_t>(end - begin));
    types = std::string_view(end, static_cast<std::size_t>(types.end() - end));
    if (word.empty() || word == "torch") continue;
    if (!is_unfit(word)) return false;
    found = true;
  }
  return found;
}

}  // namespace

bool tensor_core_eligible(std::string_view type, std::string_view data_types) {
  const bool product = is_pytorch_product(type) || is_tensorflow_product(type) || is_layer_product(type) || is_xla_product(type);
  return product && !all_unfit(data_types);
}

bool tensor_core_name(std::string_view kernel) {
  const auto in_name = [&](Word pattern) { return occurs(pattern, kernel); };
  return any_of(kKernelParts, in_name) && !any_of(kOtherKernelParts, in_name);
}

}  // namespace dlkprof::model
