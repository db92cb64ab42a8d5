#include <gtest/gtest.h>

#include "model/fold/fold.h"

namespace dlkprof::model::tensor_cores_test {
namespace {

// Names as kernels have them; those of the first group from the captures of samples/captures, where the tensor pipe was measured.
TEST(TensorCoreNames, AreThoseOfKernelsThatUseThem) {
  for (
      const char* kernel : {
          "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x64_stage5_warpsize2x2x1_g1_tensor16x8x8_"
          "execute_kernel__5x_cudnn",
          "sm80_xmma_wgrad_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize32x16x64_stage1_warpsize2x1x1_"
          "g1_tensor16x8x8_aligna4_alignc4_execute_kernel__5x_cudnn",
          "sm90_xmma_wgrad_indexed_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_warpgroupsize1x1x1_g1_"
          "execute_"
          "segment_k_on_kernel__5x_cudnn",
          "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn",
          "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
          "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
          "cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16",
          "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(T1::Params)",
          "_ZN7cutlass7Kernel2I49cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8EEvNT_6ParamsE",
          "cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1",
          "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
          "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN",
          "nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT",
          "nvjet_sm100_tst_128x256_64x4_2x1_2cta_v_bz_TNN",
          "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false> "
          ">(Flash_fwd_params)",
          "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128> >(Flash_bwd_params)",
          "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2> > >(Params)",
          "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0",
          "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
          "void cutlass::device_kernel<GemmUniversal<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7> > >(Params)",
          "triton_tem_fused_addmm_0",
          "gemm_fusion_dot_general_8",
      }) {
    EXPECT_TRUE(tensor_core_name(kernel)) << kernel;
  }
}

TEST(TensorCoreNames, AreNotThoseOfOthers) {
  for (const char* kernel : {
           "_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE",
           "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_"
           "cublas",
           "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_aligna4_"
           "alignc4_execute_kernel__5x_cudnn",
           "_ZN21cask_plugin__5x_cudnn14xmma__5x_cudnn28init_device_workspace_kernelIN14xmma__5x_cudnn13implicit_gemm13wgrad_"
           "indexed23Warp_specialized_paramsINS2_20Grid_constant_paramsEEEEEvT_b",
           "_Z18sgemm_largek_lds64ILb1ELb0ELi5ELi5ELi4ELi4ELi4ELi34EEvPfPKfS2_iiiiiiS2_S2_ffiiPiS3_",
           "_Z16gemmSN_NN_kernelIfLi128ELi2ELi4ELi8ELi4ELi4ELb0E30cublasGemvTensorStridedBatchedIKfES2_S0_IfEEv",
           "ampere_sgemm_128x64_nn",
           "volta_fp16_sgemm_fp16_128x64_nn",
           "ampere_scudnn_128x64_relu_xregs_large_nn_v1",
           "_ZN5cudnn19engines_precompiled16nchwToNhwcKernelIfffLb0ELb1EL21cudnnKernelDataType_t0EEEv",
           "_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffffLb0EfffLb1ELb0ELb0ELb0EEEvNS_18cublasSplitKParams",
           "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1> >(int)",
           "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64, 64, 256> >(Flash_fwd_params)",
           "void flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, 128, 128> >(Flash_bwd_params)",
           "void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<cute::tuple<> > >(Params)",
           "fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKernel::Params)",
           "triton_poi_fused_relu_0",
           "loop_multiply_fusion",
           "",
       }) {
    EXPECT_FALSE(tensor_core_name(kernel)) << kernel;
  }
}

TEST(TensorCoreEligibility, IsOfProductsAndConvolutions) {
  for (const char* type : {"aten::conv2d",
                           "aten::_convolution",
                           "aten::cudnn_convolution",
                           "aten::convolution_backward",
                           "aten::addmm",
                           "aten::mm",
                           "aten::baddbmm_",
                           "aten::linear",
                           "aten::_scaled_dot_product_flash_attention",
                           "ConvolutionBackward0",
                           "MmBackward0",
                           "AddmmBackward0",
                           "conv2d",
                           "__matmul__",
                           "Conv2D",
                           "FusedConv2D",
                           "Conv2DBackpropFilter",
                           "MatMul",
                           "net/fc/MatMul",
                           "BatchMatMulV2",
                           "CudnnRNNV3",
                           "XlaDot",
                           "gemm_fusion_dot_general",
                           "dot",
                           "convolution",
                           "cublas-gemm",
                           "cudnn-conv-bw-filter",
                           "Conv",
                           "Conv + Relu",
                           "Relu + Gemm",
                           "Matrix Multiply"}) {
    EXPECT_TRUE(tensor_core_eligible(type, "")) << type;
  }
}

TEST(TensorCoreEligibility, IsNotOfOthers) {
  for (const char* type : {"aten::relu",
                           "aten::add_",
                           "aten::t",
                           "aten::prelu",
                           "aten::mv",
                           "aten::as_strided",
                           "m",
                           "aten::",
                           "ReluBackward0",
                           "TBackward0",
                           "MaxPool2DWithIndicesBackward0",
                           "Relu",
                           "BiasAdd",
                           "loop_multiply_fusion",
                           "custom-call",
                           "dotted",
                           "convert",
                           "Add + Relu",
                           "iteration",
                           "module",
                           "Optimizer.step",
                           "convolutional",
                           "unassociated_cudaLaunchKernel",
                           ""}) {
    EXPECT_FALSE(tensor_core_eligible(type, "")) << type;
  }
}

TEST(TensorCoreEligibility, IsLostByTypesThatTensorCoresDoNotMultiply) {
  for (const char* types : {"", "[float16, float16]", "[torch.float32]", "[DT_HALF]", "[DT_DOUBLE]", "[float64, float64]",
                            "[int8, int8]", "[uint8]", "[float16, int64]", "[bool, bfloat16]", "[float8_e4m3fn]", "[]"}) {
    EXPECT_TRUE(tensor_core_eligible("aten::mm", types)) << types;
  }
  for (const char* types :
       {"[int64, int64]", "[torch.int32]", "[DT_INT32]", "[bool]", "[complex64, complex64]", "int16", "[Long]"}) {
    EXPECT_FALSE(tensor_core_eligible("aten::mm", types)) << types;
  }
}

}  // namespace
}  // namespace dlkprof::model::tensor_cores_test
